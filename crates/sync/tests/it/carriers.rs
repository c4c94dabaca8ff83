//! What every carrier has to do, and machines on each.

use crate::support::{Site, record_id};
use std::collections::BTreeMap;
use sync::Carrier;

const ID: &str = "0123456789abcdef0123456789abcdef";

fn listed(carrier: &dyn Carrier) -> BTreeMap<String, u64> {
    carrier.list().unwrap().into_iter().map(|entry| (entry.name, entry.bytes)).collect()
}

/// `carrier` holds nothing yet, and its place does not exist.
pub fn keeps_the_contract(carrier: &dyn Carrier) {
    let (manifest, segment) = (format!("{ID}.manifest"), format!("{ID}.0123456789abcdef.segment"));
    let (manifest, segment) = (manifest.as_str(), segment.as_str());
    assert_eq!(listed(carrier), BTreeMap::new());
    assert_eq!(carrier.get(&[manifest, segment]).unwrap(), [None, None]);
    carrier.delete(&[manifest]).unwrap();

    let every_byte: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    carrier.put(segment, &every_byte).unwrap();
    carrier.put(manifest, b"").unwrap();
    assert_eq!(listed(carrier), BTreeMap::from([(manifest.into(), 0), (segment.into(), 200_000)]));
    assert_eq!(carrier.get(&[segment, "none.manifest", manifest]).unwrap(), [Some(every_byte.clone()), None, Some(Vec::new())]);
    carrier.put(manifest, b"sync-end\n-\n").unwrap();
    assert_eq!(carrier.get(&[manifest, segment]).unwrap(), [Some(b"sync-end\n-\n".to_vec()), Some(every_byte)]);
    carrier.delete(&[segment, "none.segment"]).unwrap();
    assert_eq!(listed(carrier), BTreeMap::from([(manifest.into(), 11)]));
    carrier.delete(&[manifest]).unwrap();
    assert_eq!(listed(carrier), BTreeMap::new());

    for name in ["../x.manifest", "a/b", "", "-rf", "a b", "a\nb", "a'b", ".."] {
        assert!(carrier.put(name, b"x").is_err() && carrier.get(&[name]).is_err() && carrier.delete(&[name]).is_err(), "{name}");
    }
}

/// Two machines with a key.
pub fn carries_records(carrier: &dyn Carrier) {
    let (mut one, mut two) = (Site::new(1), Site::new(2));
    let key = sync::Key::generate();
    (one.key, two.key) = (Some(key.clone()), Some(key));
    for number in 0..40 {
        one.write(&number.to_string(), 1, &"a secret text ".repeat(number * 100));
    }
    two.write("own", 1, "of two");
    for _ in 0..2 {
        one.publish(carrier).unwrap();
        two.publish(carrier).unwrap();
        one.read(carrier).unwrap();
        two.read(carrier).unwrap();
        assert_eq!(two.of(&one), one.own);
        assert_eq!(one.of(&two), two.own);
        (0..40).step_by(3).for_each(|number| _ = one.own.remove(&record_id(&number.to_string())));
        one.write("1", 2, "another");
    }
    assert_eq!(sync::remove_machine(carrier, &one.me.id).unwrap(), 2);
    assert_eq!(carrier.list().unwrap().len(), 2);
}

#[test]
fn an_address_that_names_no_carrier_says_what_one_is() {
    for address in ["relative/folder", "ftp://host/x", "", "ssh://host"] {
        let error = sync::carrier(address).err().expect(address);
        assert!(matches!(&error, sync::Error::Address { .. }) && error.to_string().contains("s3://bucket/prefix"), "{error}");
    }
    assert!(sync::carrier("/a/folder").is_ok() && sync::carrier("ssh://me@host:22/x").is_ok());
}

#[cfg(not(feature = "s3"))]
#[test]
fn without_its_feature_a_bucket_is_an_error_that_says_so() {
    let error = sync::carrier("s3://bucket/prefix").err().unwrap();
    assert_eq!(
        error.to_string(),
        "s3://bucket/prefix: this program is built without support for S3. Build it with the feature `s3`, or use a folder or ssh://"
    );
}
