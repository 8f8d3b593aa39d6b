//! Lengths of time, as a person writes them and as records count them.
#![forbid(unsafe_code)]

use std::time::Duration;

/// Longer than anything runs, and short enough to be counted with: a hundred years, with their leap days.
const LONGEST: Duration = Duration::from_hours(24 * 36525);

/// A length of time such as `90s`, `5m` or `1h 30m`; otherwise what is wrong with it.
pub fn parse(text: &str) -> Result<Duration, String> {
    use humantime::DurationError::{NumberOverflow, UnknownUnit};
    // It would be months, and nobody means them.
    if text.split(|letter: char| !letter.is_alphabetic()).any(|unit| unit == "M") {
        return Err("not a duration: 'M' is not a unit; 'm' is minutes, 'month' is months".to_owned());
    }
    match humantime::parse_duration(text) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        Ok(_) | Err(NumberOverflow) => Err("longer than a hundred years".to_owned()),
        Err(UnknownUnit { unit, .. }) if !unit.is_empty() => {
            Err(format!("not a duration: '{unit}' is not a unit such as ms, s, m, h or d"))
        }
        Err(UnknownUnit { .. }) => Err("not a duration: a number needs a unit".to_owned()),
        Err(_) => Err("not a duration".to_owned()),
    }
}

/// Its milliseconds, as records count.
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_none_is_told_why() {
        assert_eq!(parse("1h 30m"), Ok(Duration::from_mins(90)));
        for longest in ["100y", "100years", "36525d"] {
            assert_eq!(parse(longest), Ok(LONGEST), "{longest}");
        }
        for long in ["100y 1s", "101years", "9999999999999999999s", "99999999999999999999s", "584542046090y"] {
            assert_eq!(parse(long).unwrap_err(), "longer than a hundred years", "{long}");
        }
        for none in ["", "-5", "soon"] {
            assert_eq!(parse(none).unwrap_err(), "not a duration", "{none}");
        }
        assert_eq!(parse("5").unwrap_err(), "not a duration: a number needs a unit");
        assert_eq!(parse("5 parsecs").unwrap_err(), "not a duration: 'parsecs' is not a unit such as ms, s, m, h or d");
        for months in ["5M", "1h 5M", "1M30s", "5 M"] {
            assert!(parse(months).unwrap_err().contains("'m' is minutes, 'month' is months"), "{months}");
        }
        assert_eq!(parse("2months"), humantime::parse_duration("2months").map_err(|error| error.to_string()));
    }
}
