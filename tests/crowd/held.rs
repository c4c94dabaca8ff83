//! Who reads the index holds on to its log: nothing that this process does beside it gives that up.

use recall::store::Store;

use crate::scene::begun;

type Look = fn(&std::path::Path);

/// A process that closes the index as the last one folds the log into it and deletes the log.
#[test]
fn looking_at_the_index_lets_go_of_no_connection_to_it() {
    let world = begun(2);
    let (index, log) = (world.data_dir().join("recall.db"), world.data_dir().join("recall.db-wal"));
    let looks: [(&str, Look); 3] = [
        ("is there one", |index| assert!(Store::is_there(index).expect("an index"))),
        ("another reader", |index| drop(Store::open_if_there(index).expect("an index"))),
        ("a writer", |index| drop(Store::open(index).expect("an index"))),
    ];
    for (what, look) in looks {
        let held = Store::open_if_there(&index).expect("an index").expect("it is there");
        look(&index);
        assert_eq!(world.recall(["remember", "--everywhere", &format!("The orders are paginated by key ({what}).")]).code, 0);
        assert!(log.exists(), "{what}: another process took itself for the last");
        drop(held);
    }
    assert_eq!(world.count("SELECT count(*) FROM note"), 3);
}
