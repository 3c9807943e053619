//! The views of a model's labels as a model file keeps them: rows that labels share are written once, and are
//! shared again when they are read; lists are the gaps between their numbers. A model has them as
//! `#[serde(with = "labelchain::prepare::views")]`.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::LabelView;
use crate::decode::packed;

/// Lists of rows, and for each label which of them it learned from, and its features.
type Kept = (Vec<Gaps>, Vec<(usize, Gaps)>);

/// A list of numbers as the gaps between them, which are small where the numbers ascend.
#[derive(Serialize, Deserialize)]
struct Gaps(#[serde(with = "packed")] Box<[u8]>);

impl Gaps {
    fn between(numbers: &[usize]) -> Gaps {
        let (mut bytes, mut before) = (Vec::with_capacity(numbers.len()), 0);
        for &number in numbers {
            packed::push(&mut bytes, (number as u64).wrapping_sub(before));
            before = number as u64;
        }
        Gaps(bytes.into())
    }

    /// The numbers; none if they are damaged.
    fn numbers(&self) -> Option<Vec<usize>> {
        let (mut bytes, mut number) = (&self.0[..], 0u64);
        let mut numbers = Vec::with_capacity(bytes.len());
        while !bytes.is_empty() {
            number = number.wrapping_add(packed::take(&mut bytes)?);
            numbers.push(number.try_into().ok()?);
        }
        Some(numbers)
    }
}

/// The place of a list among those that labels share, to which it is added where it is new.
fn place<'v>(lists: &mut Vec<&'v Arc<[usize]>>, list: &'v Arc<[usize]>) -> usize {
    // Labels that share a list often do so with the label before.
    let known = lists.iter().rposition(|known| Arc::ptr_eq(known, list));
    known.unwrap_or_else(|| {
        lists.push(list);
        lists.len() - 1
    })
}

/// Writes lists of rows, then for each label which of them it has, and its features.
pub fn serialize<S: Serializer>(views: &[LabelView], to: S) -> Result<S::Ok, S::Error> {
    let (mut row_lists, mut feature_lists) = (Vec::new(), Vec::new());
    let which: Vec<(usize, usize)> = views
        .iter()
        .map(|view| (place(&mut row_lists, &view.rows), place(&mut feature_lists, &view.features)))
        .collect();
    let gaps = |lists: &[&Arc<[usize]>]| -> Vec<Gaps> {
        lists.iter().map(|list| Gaps::between(list)).collect()
    };
    let (lists, features) = (gaps(&row_lists), gaps(&feature_lists));
    let views: Vec<(usize, &Gaps)> =
        which.iter().map(|&(rows, at)| (rows, &features[at])).collect();
    (lists, views).serialize(to)
}

/// Reads what [`serialize`] wrote; a label without rows is refused.
pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<LabelView>, D::Error> {
    let (lists, views) = Kept::deserialize(from)?;
    let lists: Option<Vec<Arc<[usize]>>> =
        lists.iter().map(|rows| Some(rows.numbers()?.into())).collect();
    let same = views.windows(2).map(|pair| pair[0].1.0 == pair[1].1.0);
    let is_as_before = std::iter::once(false).chain(same);
    let mut features: Arc<[usize]> = Arc::default();
    let view = |((which, gaps), is_as_before): (&(usize, Gaps), bool)| {
        let rows = lists.as_ref()?.get(*which).map(Arc::clone)?;
        // Labels that learn from all features have the same list.
        if !is_as_before {
            features = gaps.numbers()?.into();
        }
        Some(LabelView { rows, features: Arc::clone(&features) })
    };
    let views: Option<Vec<LabelView>> = views.iter().zip(is_as_before).map(view).collect();
    views.ok_or_else(|| D::Error::custom("a label without rows, or a damaged list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Views(#[serde(with = "super")] Vec<LabelView>);

    #[test]
    fn rows_that_labels_share_are_written_once_and_shared_again() {
        let (all, few): (Arc<[usize]>, Arc<[usize]>) = ([4, 5, 6].into(), [5].into());
        let view = |rows: &Arc<[usize]>, features: &[usize]| LabelView {
            rows: Arc::clone(rows),
            features: features.into(),
        };
        let kept = Views(vec![view(&all, &[0]), view(&few, &[1]), view(&all, &[])]);
        let bytes = postcard::to_stdvec(&kept).unwrap();
        // Two lists of rows: 4 and gaps of 1, and 5; then three labels, each with a list and its features.
        assert_eq!(bytes, [2, 3, 4, 1, 1, 1, 5, 3, 0, 1, 0, 1, 1, 1, 0, 0]);
        let read: Views = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(read, kept);
        assert!(Arc::ptr_eq(&read.0[0].rows, &read.0[2].rows));
        let damaged = [&[1, 1, 4, 1, 1, 1, 0][..], &[1, 1, 0x80, 1, 0, 1, 0]];
        assert!(damaged.iter().all(|bytes| postcard::from_bytes::<Views>(bytes).is_err()));
    }

    #[test]
    fn any_list_reads_back() {
        for list in [vec![], vec![0], vec![7, 300, 1 << 40], vec![9, 2, 2], vec![usize::MAX, 0]] {
            assert_eq!(Gaps::between(&list).numbers(), Some(list));
        }
    }
}
