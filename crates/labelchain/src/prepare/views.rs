//! The views of a model's labels as a model file keeps them: rows that labels share are written once,
//! and are shared again when they are read. A model has them as
//! `#[serde(with = "labelchain::prepare::views")]`.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::LabelView;

/// Lists of rows, and for each label which of them it learned from, and its features.
type Kept = (Vec<Arc<[usize]>>, Vec<(usize, Vec<usize>)>);

/// Writes lists of rows, then for each label which of them it has, and its features.
pub fn serialize<S: Serializer>(views: &[LabelView], to: S) -> Result<S::Ok, S::Error> {
    let mut lists: Vec<&Arc<[usize]>> = Vec::new();
    let mut which = |rows| {
        let known = lists.iter().position(|list| Arc::ptr_eq(list, rows));
        known.unwrap_or_else(|| {
            lists.push(rows);
            lists.len() - 1
        })
    };
    let views: Vec<(usize, &[usize])> =
        views.iter().map(|view| (which(&view.rows), &*view.features)).collect();
    (lists, views).serialize(to)
}

/// Reads what [`serialize`] wrote; a label without rows is refused.
pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<LabelView>, D::Error> {
    let (lists, views) = Kept::deserialize(from)?;
    let view = |(which, features): (usize, Vec<usize>)| {
        let rows = lists.get(which).map(Arc::clone);
        Some(LabelView { rows: rows?, features })
    };
    let views: Option<Vec<LabelView>> = views.into_iter().map(view).collect();
    views.ok_or_else(|| D::Error::custom("a label without rows"))
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
            features: features.to_vec(),
        };
        let kept = Views(vec![view(&all, &[0]), view(&few, &[1]), view(&all, &[])]);
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(text, "[[[4,5,6],[5]],[[0,[0]],[1,[1]],[0,[]]]]");
        let read: Views = serde_json::from_str(&text).unwrap();
        assert_eq!(read, kept);
        assert!(Arc::ptr_eq(&read.0[0].rows, &read.0[2].rows));
        assert!(serde_json::from_str::<Views>("[[[4]],[[1,[0]]]]").is_err());
    }
}
