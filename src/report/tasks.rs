//! The command's own list of tasks, as it writes it to a file.

use serde_json::Value;

use super::visible;

/// No more of a file is read.
pub const LARGEST: usize = 1024 * 1024;
/// No more tasks are quoted.
const MOST: usize = 500;
/// No more of a name is quoted.
const LONGEST: usize = 300;

/// What the command has done and what is left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tasks {
    /// What is done.
    pub done: Vec<String>,
    /// What it is at.
    pub current: Vec<String>,
    /// What is left.
    pub remaining: Vec<String>,
}

#[derive(Clone, Copy)]
enum Stage {
    Done,
    Current,
    Remaining,
}

impl Tasks {
    /// Reads a list of tasks: an array of them, alone or as `tasks` (or `todos`, `items`) of an object, each a text or an
    /// object with a `name` (or `title`, `content`, `task`, `description`) and a `status`; or an object with the lists `done`,
    /// `current` and `remaining`.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > LARGEST {
            return Err(format!("it is larger than {LARGEST} bytes"));
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let mut tasks = Self::default();
        match &value {
            Value::Array(list) => tasks.add_all(list, None)?,
            Value::Object(object) => {
                let mut found = false;
                for (key, stage) in [
                    ("tasks", None),
                    ("todos", None),
                    ("items", None),
                    ("done", Some(Stage::Done)),
                    ("completed", Some(Stage::Done)),
                    ("current", Some(Stage::Current)),
                    ("in_progress", Some(Stage::Current)),
                    ("remaining", Some(Stage::Remaining)),
                    ("pending", Some(Stage::Remaining)),
                ] {
                    match object.get(key) {
                        None => continue,
                        Some(Value::Null) => {}
                        Some(Value::Array(list)) => tasks.add_all(list, stage)?,
                        Some(one @ (Value::String(_) | Value::Object(_))) => tasks.add(one, stage)?,
                        Some(_) => return Err(format!("'{key}' is not a list of tasks")),
                    }
                    found = true;
                }
                if !found {
                    return Err("it has neither 'tasks' nor 'done', 'current' or 'remaining'".to_owned());
                }
            }
            _ => return Err("it is neither a list of tasks nor an object with one".to_owned()),
        }
        Ok(tasks)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.done.len() + self.current.len() + self.remaining.len()
    }

    /// How it stands, in words.
    pub fn summary(&self) -> String {
        match self.count() {
            0 => "no tasks".to_owned(),
            all => format!("{} of {all} done", self.done.len()),
        }
    }

    fn add_all(&mut self, list: &[Value], stage: Option<Stage>) -> Result<(), String> {
        list.iter().try_for_each(|task| self.add(task, stage))
    }

    fn add(&mut self, task: &Value, stage: Option<Stage>) -> Result<(), String> {
        if self.count() >= MOST {
            return Err(format!("it has more than {MOST} tasks"));
        }
        let (name, own) = match task {
            Value::String(name) => (name.as_str(), None),
            Value::Object(fields) => {
                let keys = ["name", "title", "content", "task", "description", "subject"];
                let name = keys.iter().find_map(|key| fields.get(*key)?.as_str());
                let name = name.ok_or("a task has no 'name', 'title' or 'content'")?;
                let status = ["status", "state"].iter().find_map(|key| fields.get(*key)?.as_str());
                let flag = ["done", "completed"].iter().find_map(|key| fields.get(*key)?.as_bool());
                (name, status.map(stage_of).or(flag.map(|done| if done { Stage::Done } else { Stage::Remaining })))
            }
            _ => return Err("a task is neither a string nor an object".to_owned()),
        };
        let list = match stage.or(own).unwrap_or(Stage::Remaining) {
            Stage::Done => &mut self.done,
            Stage::Current => &mut self.current,
            Stage::Remaining => &mut self.remaining,
        };
        let name = visible(name);
        list.push(match name.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name,
        });
        Ok(())
    }
}

/// What a status means; one that nobody knows means that the task is not done.
fn stage_of(status: &str) -> Stage {
    match status.to_ascii_lowercase().replace([' ', '-'], "_").as_str() {
        "done" | "completed" | "complete" | "finished" | "closed" | "success" | "ok" | "cancelled" | "canceled"
        | "skipped" => Stage::Done,
        "in_progress" | "inprogress" | "current" | "active" | "running" | "doing" | "started" | "working" => {
            Stage::Current
        }
        _ => Stage::Remaining,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Tasks, String> {
        Tasks::parse(text.as_bytes())
    }

    fn tasks(done: &[&str], current: &[&str], remaining: &[&str]) -> Tasks {
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        Tasks { done: own(done), current: own(current), remaining: own(remaining) }
    }

    #[test]
    fn every_usual_shape_is_understood() {
        let expected = tasks(&["a"], &["b"], &["c"]);
        for text in [
            r#"{"tasks":[{"name":"a","status":"done"},{"title":"b","status":"in_progress"},{"content":"c","status":"pending"}]}"#,
            r#"[{"name":"a","status":"completed"},{"name":"b","status":"in progress"},"c"]"#,
            r#"{"done":["a"],"current":"b","remaining":["c"]}"#,
            r#"{"todos":[{"task":"a","done":true},{"content":"b","state":"Running"},{"content":"c","done":false}]}"#,
            r#"{"done":[{"name":"a"}],"current":[{"name":"b"}],"remaining":[{"name":"c","note":1}],"extra":{}}"#,
        ] {
            assert_eq!(parse(text), Ok(expected.clone()), "{text}");
        }
        assert_eq!(parse("[]"), Ok(Tasks::default()));
        assert_eq!(expected.summary(), "1 of 3 done");
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (text, says) in [
            ("", "not JSON"),
            ("{\"tasks\":", "not JSON"),
            ("7", "neither a list"),
            ("{}", "neither 'tasks'"),
            ("{\"tasks\":7}", "'tasks' is not a list"),
            ("[7]", "neither a string"),
            ("[{\"status\":\"done\"}]", "no 'name'"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).unwrap_err().contains("not JSON"));
        assert!(Tasks::parse(&vec![b' '; LARGEST + 1]).unwrap_err().contains("larger"));
        assert!(parse(&format!("[{}]", vec!["\"x\""; 600].join(","))).unwrap_err().contains("more than"));
    }

    #[test]
    fn names_are_short_and_show_what_is_hidden_in_them() {
        let found = parse(&format!("[\"\\u001b[31mred\\u202e\", \"{}\"]", "x".repeat(1000))).unwrap();
        assert_eq!(found.remaining[0], "<U+001B>[31mred<U+202E>");
        assert_eq!(found.remaining[1].chars().count(), LONGEST + 1);
    }
}
