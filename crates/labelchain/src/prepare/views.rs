//! The views of a model's labels as a model file keeps them: rows that labels share are written once, and are
//! shared again when they are read; lists are the gaps between their numbers. A model has them as
//! `#[serde(with = "labelchain::prepare::views")]`.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::LabelView;
use crate::decode::Gaps;
use crate::pieces::{PieceFile, PieceWriter};

/// Lists of rows, and for each label which of them it learned from, and its features.
type Kept = (Vec<Gaps>, Vec<(usize, Gaps)>);

/// The place of a list among those that labels share, to which it is added where it is new.
fn place<'v>(lists: &mut Vec<&'v Arc<[usize]>>, list: &'v Arc<[usize]>) -> usize {
    // Labels that share a list often do so with the label before.
    let known = lists.iter().rposition(|known| Arc::ptr_eq(known, list));
    known.unwrap_or_else(|| {
        lists.push(list);
        lists.len() - 1
    })
}

fn gaps(lists: &[&Arc<[usize]>]) -> Vec<Gaps> {
    lists.iter().map(|list| Gaps::between(list)).collect()
}

/// The views of a member's labels, whose lists of features are in the file once for all members.
#[derive(Serialize, Deserialize)]
pub(crate) struct SharedViews {
    row_lists: Vec<Gaps>,
    /// For each label, which of the lists of rows, and of the lists that members share, it has.
    of_labels: Vec<(usize, usize)>,
}

impl SharedViews {
    /// Adds the lists of features to what members share.
    pub(crate) fn new(views: &[LabelView], pieces: &mut PieceWriter) -> SharedViews {
        let mut row_lists = Vec::new();
        let mut of_labels = Vec::with_capacity(views.len());
        for view in views {
            let features = pieces.share_numbers(&view.features);
            of_labels.push((place(&mut row_lists, &view.rows), features));
        }
        SharedViews { row_lists: gaps(&row_lists), of_labels }
    }

    /// The views again; none if they are damaged.
    pub(crate) fn views(&self, file: &PieceFile) -> Option<Vec<LabelView>> {
        let row_lists = self.row_lists.iter().map(|rows| rows.numbers().map(Arc::from));
        let row_lists: Vec<Arc<[usize]>> = row_lists.collect::<Option<_>>()?;
        let view = |&(rows, features): &(usize, usize)| {
            let features = Arc::clone(file.numbers(features)?);
            Some(LabelView { rows: row_lists.get(rows).map(Arc::clone)?, features })
        };
        self.of_labels.iter().map(view).collect()
    }
}

/// Writes lists of rows, then for each label which of them it has, and its features.
pub fn serialize<S: Serializer>(views: &[LabelView], to: S) -> Result<S::Ok, S::Error> {
    let (mut row_lists, mut feature_lists) = (Vec::new(), Vec::new());
    let which: Vec<(usize, usize)> = views
        .iter()
        .map(|view| (place(&mut row_lists, &view.rows), place(&mut feature_lists, &view.features)))
        .collect();
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
    let same = views.windows(2).map(|pair| pair[0].1 == pair[1].1);
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
    use crate::decode::DecodeBudget;

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
    fn members_share_lists_of_features() {
        let (rows, features): (Arc<[usize]>, Arc<[usize]>) = ([4, 6].into(), [0, 2].into());
        let view = |features: &Arc<[usize]>| LabelView {
            rows: Arc::clone(&rows),
            features: Arc::clone(features),
        };
        let members = [vec![view(&features), view(&[1].into())], vec![view(&[0, 2].into())]];
        let mut pieces = PieceWriter::default();
        let stored = members.each_ref().map(|views| SharedViews::new(views, &mut pieces));
        let (bytes, budget) = (pieces.into_bytes().unwrap(), DecodeBudget::new(1 << 20));
        let file = PieceFile::of_bytes(&bytes, "m", &budget).unwrap();
        let read = stored.each_ref().map(|views| views.views(&file).unwrap());
        assert_eq!(read, members);
        assert!(Arc::ptr_eq(&read[0][0].features, &read[1][0].features));
        let of_labels = |of_label| SharedViews { row_lists: vec![], of_labels: vec![of_label] };
        assert!([(0, 0), (0, 9)].map(of_labels).iter().all(|views| views.views(&file).is_none()));
    }
}
