use super::*;
use crate::analyze::account::SessionAccount;

fn open(tasks: &[&str]) -> SessionAccount {
    let tasks = tasks.iter().map(|text| OpenEnd::Task { text: (*text).to_owned() });
    SessionAccount { open: [OpenEnd::Interrupted].into_iter().chain(tasks).collect(), ..SessionAccount::default() }
}

/// What is left open, and with which ids.
fn left(tasks: &[&str], is_settled: impl Fn(&String) -> bool) -> (SessionAccount, Vec<(String, String)>) {
    let items = [("n1", "Move the ex…"), ("n2", "Add the index")].map(|(id, text)| (id.to_owned(), text.to_owned()));
    let mut account = open(tasks);
    let ids = settle_tasks(&mut account, &items, is_settled);
    (account, ids)
}

#[test]
fn a_task_is_open_with_its_id_until_it_is_closed_or_told_elsewhere() {
    let tasks = ["Move the export", "Add the index", "Tell the office"];
    let id = |task: &str, id: &str| (task.to_owned(), id.to_owned());
    assert_eq!(left(&tasks, |_| false), (open(&tasks), vec![id(tasks[0], "n1"), id(tasks[1], "n2")]));
    assert_eq!(left(&tasks, |id| id == "n1"), (open(&tasks[1..]), vec![id(tasks[1], "n2")]), "one is closed");
    assert_eq!(left(&tasks, |_| true), (open(&tasks[2..]), vec![]), "what nobody else tells stays");
}
