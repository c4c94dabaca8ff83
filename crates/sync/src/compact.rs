//! Which segments are merged, so that their number stays small.

/// A segment that is filled: content before it is compressed.
pub(crate) const FULL: u64 = 4 << 20;
/// Segments below this length are as good as this long: it costs nothing to write them again.
const SMALL: u64 = 64 << 10;

/// The groups of two or more that are written as one, given the length of each segment.
///
/// Two are merged if the longer has at most twice the length of the shorter and both fit into one. What is left doubles from one to the next up to
/// half of [`FULL`]: six, and one for every 2 MiB of records. A record is so written about log2([`FULL`] / [`SMALL`]) times, and while its segment is
/// small.
pub(crate) fn groups(lengths: &[u64]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(u64, Vec<usize>)> = lengths.iter().enumerate().map(|(index, length)| (*length, vec![index])).collect();
    loop {
        groups.sort();
        let near = |pair: &[(u64, Vec<usize>)]| {
            let (shorter, longer) = (pair[0].0, pair[1].0);
            longer <= 2 * shorter.max(SMALL) && shorter + longer <= FULL
        };
        let Some(at) = groups.windows(2).position(near) else { break };
        let (length, members) = groups.remove(at);
        groups[at].0 += length;
        groups[at].1.extend(members);
    }
    groups.into_iter().map(|(_, members)| members).filter(|members| members.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_small_ones_become_one() {
        assert_eq!(groups(&[10, 20, 30]), [vec![2, 1, 0]]);
        assert_eq!(groups(&[10]), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn none_grows_beyond_a_full_one() {
        assert_eq!(groups(&[FULL, FULL, FULL / 2 + 1, FULL / 2]), Vec::<Vec<usize>>::new());
        assert_eq!(groups(&[FULL / 2, FULL / 2]).len(), 1);
    }

    #[test]
    fn what_is_left_doubles() {
        assert_eq!(groups(&[SMALL, 3 * SMALL, 7 * SMALL]), Vec::<Vec<usize>>::new());
        // Two small ones become as large as the next, and so on.
        assert_eq!(groups(&[SMALL, SMALL, 3 * SMALL, 7 * SMALL]).concat().len(), 4);
    }

    #[test]
    fn ten_thousand_records_one_by_one_stand_in_few_segments_and_are_seldom_written() {
        let (mut segments, mut most, mut written, mut total) = (Vec::<u64>::new(), 0, 0, 0);
        for number in 0..10_000_u64 {
            // From 100 bytes to 6 kB: 30 MB in all.
            let record = 100 + (number * 2_654_435_761) % 6_000;
            total += record;
            segments.push(record);
            let groups = groups(&segments);
            let merged: Vec<u64> = groups.iter().map(|group| group.iter().map(|index| segments[*index]).sum()).collect();
            written += if groups.iter().any(|group| group.contains(&(segments.len() - 1))) { 0 } else { record };
            written += merged.iter().sum::<u64>();
            let gone = groups.concat();
            segments = segments.iter().enumerate().filter(|(index, _)| !gone.contains(index)).map(|(_, length)| *length).collect();
            segments.extend(merged);
            most = most.max(segments.len());
        }
        assert_eq!(segments.iter().sum::<u64>(), total);
        assert!(segments.iter().all(|length| *length <= FULL));
        assert!(most as u64 <= 6 + total / (FULL / 2), "{most} segments");
        assert!(most <= 16, "{most} segments");
        assert!(written / total < 30, "every record was written {} times", written / total);
    }
}
