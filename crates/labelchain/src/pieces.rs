//! Pieces of a model that stay in its file until a row needs them.
//!
//! A row of words needs what the model knows about its words, and nothing about the other hundred thousand.
//! So a model may keep [lists](Pieces) whose elements, the pieces, are read, checked and decoded when they are
//! asked for. Before rows are scored, their pieces are [loaded](Pieces::load), which may fail; scoring then
//! finds them in memory.
//!
//! Whoever needs the piece of a word needs it of every member. So pieces of the same number stand together:
//! number 0 of all lists, then number 1 of all lists. As many consecutive numbers as have about
//! `BLOCK` bytes make a block, which is read and checked as a whole, and once for all members
//! ([`ReadBlocks`]).

use std::collections::hash_map::{Entry, OccupiedEntry};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::blocks::{BlockFile, Source, table};
use crate::decode::{DecodeBudget, Gaps, decode, packed};
use crate::error::{Error, Result};

/// A smaller block is read faster, and more blocks make a longer table, which is read in any case.
const BLOCK: usize = 8 << 10;

/// Collects the lists of a model that is written.
#[derive(Default)]
pub struct PieceWriter {
    lists: Vec<Vec<Vec<u8>>>,
    /// What members share, in the order of its places, and the place of each list of numbers.
    shared: Shared,
    places: BTreeMap<Arc<[usize]>, usize>,
}

/// Lists that are the same for many members, such as the inputs that labels look at. They stand in the file once,
/// and every row needs them.
#[derive(Default, Serialize, Deserialize)]
struct Shared {
    numbers: Vec<Gaps>,
    values: Vec<Arc<[f64]>>,
}

impl PieceWriter {
    /// Adds a list, and returns its number, by which [`Pieces::in_file`] finds it again.
    pub fn add<'t, T: Serialize + 't>(
        &mut self,
        pieces: impl Iterator<Item = &'t T>,
    ) -> postcard::Result<usize> {
        self.lists.push(pieces.map(postcard::to_stdvec).collect::<postcard::Result<_>>()?);
        Ok(self.lists.len() - 1)
    }

    /// Adds a list of numbers that other members may have too, and returns its place among those that are
    /// shared, by which [`PieceFile::numbers`] finds it again.
    pub(crate) fn share_numbers(&mut self, numbers: &Arc<[usize]>) -> usize {
        if let Some(&place) = self.places.get(numbers) {
            return place;
        }
        let place = self.shared.numbers.len();
        self.shared.numbers.push(Gaps::between(numbers));
        self.places.insert(Arc::clone(numbers), place);
        place
    }

    /// The same for a list of values, which [`PieceFile::values`] finds again.
    pub(crate) fn share_values(&mut self, values: &Arc<[f64]>) -> usize {
        let known = &mut self.shared.values;
        let bits = |value: &f64| value.to_bits();
        let is_same = |of: &Arc<[f64]>| {
            Arc::ptr_eq(of, values) || of.iter().map(bits).eq(values.iter().map(bits))
        };
        known.iter().position(is_same).unwrap_or_else(|| {
            known.push(Arc::clone(values));
            known.len() - 1
        })
    }

    /// The blocks of all lists, and what is in them.
    pub(crate) fn into_blocks(self) -> (PieceLayout, Vec<Vec<u8>>) {
        let lengths: Vec<usize> = self.lists.iter().map(Vec::len).collect();
        let (mut blocks, mut n_numbers) = (Vec::new(), Vec::new());
        let (mut block, mut n) = (Vec::new(), 0u32);
        for number in 0..lengths.iter().copied().max().unwrap_or(0) {
            for piece in self.lists.iter().filter_map(|list| list.get(number)) {
                packed::push(&mut block, piece.len() as u64);
                block.extend_from_slice(piece);
            }
            n += 1;
            if block.len() >= BLOCK {
                blocks.push(std::mem::take(&mut block));
                n_numbers.push(std::mem::take(&mut n));
            }
        }
        if n > 0 {
            blocks.push(block);
            n_numbers.push(n);
        }
        (PieceLayout { lengths, n_numbers, shared: self.shared }, blocks)
    }

    /// All lists as bytes, to be sent to another process.
    pub(crate) fn into_bytes(self) -> postcard::Result<Vec<u8>> {
        let (layout, blocks) = self.into_blocks();
        postcard::to_stdvec(&(layout, table(&blocks), blocks.concat()))
    }
}

/// What is in the blocks of pieces, and what is shared.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct PieceLayout {
    /// How many pieces each list has.
    lengths: Vec<usize>,
    /// How many consecutive numbers each block has.
    n_numbers: Vec<u32>,
    shared: Shared,
}

/// A model file whose pieces are still to be read.
pub struct PieceFile {
    blocks: BlockFile,
    /// The block that the first pieces are in: those before have no pieces.
    first_block: usize,
    lengths: Vec<usize>,
    /// Block b has the numbers `starts[b]..starts[b + 1]`.
    starts: Vec<usize>,
    /// The block of each number.
    block_of: Vec<u32>,
    /// What members share.
    numbers: Vec<Arc<[usize]>>,
    values: Vec<Arc<[f64]>>,
    /// Bytes that pieces may still take in memory, of so many.
    left: AtomicU64,
    limit: u64,
}

impl fmt::Debug for PieceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PieceFile").field("path", &self.blocks.path()).finish_non_exhaustive()
    }
}

impl PieceFile {
    /// Of blocks from one on that are laid out so; none if they are not. All of the model may take `limit`
    /// bytes; [`PieceFile::allow`] says how many of them are left for pieces.
    pub(crate) fn new(
        blocks: BlockFile,
        first_block: usize,
        layout: PieceLayout,
        budget: &DecodeBudget,
        limit: u64,
    ) -> Option<PieceFile> {
        let PieceLayout { lengths, n_numbers, shared } = layout;
        let n_total = lengths.iter().copied().max().unwrap_or(0);
        let mut starts = Vec::with_capacity(n_numbers.len() + 1);
        starts.push(0usize);
        for &n in &n_numbers {
            let start: usize = *starts.last()?;
            // A block without a number would never be found again.
            starts.push(start.checked_add(n as usize).filter(|&end| n > 0 && end <= n_total)?);
        }
        if starts.last() != Some(&n_total) || blocks.len() != first_block + n_numbers.len() {
            return None;
        }
        budget.take(size_of::<u32>() as u64 * n_total as u64)?;
        let mut block_of = Vec::with_capacity(n_total);
        for (block, &n) in (0u32..).zip(&n_numbers) {
            block_of.resize(block_of.len() + n as usize, block);
        }
        let left = AtomicU64::new(0);
        let numbers = shared.numbers.iter().map(|gaps| gaps.numbers().map(Arc::from));
        let (numbers, values) = (numbers.collect::<Option<_>>()?, shared.values);
        let file = PieceFile {
            blocks,
            first_block,
            lengths,
            starts,
            block_of,
            numbers,
            values,
            left,
            limit,
        };
        Some(file)
    }

    /// A list of numbers that members share; none if there is none at this place.
    pub(crate) fn numbers(&self, place: usize) -> Option<&Arc<[usize]>> {
        self.numbers.get(place)
    }

    /// The same for values.
    pub(crate) fn values(&self, place: usize) -> Option<&Arc<[f64]>> {
        self.values.get(place)
    }

    /// Of bytes that [`PieceWriter::into_bytes`] made; none if they are damaged. `what` they are is for messages.
    pub(crate) fn of_bytes(bytes: &[u8], what: &str, budget: &DecodeBudget) -> Option<PieceFile> {
        let (layout, table, blocks): (PieceLayout, Vec<u8>, Vec<u8>) = decode(bytes, budget)?;
        let (limit, length) = (budget.left(), blocks.len() as u64);
        let source = Source::Memory(blocks.into());
        let blocks = BlockFile::new(source, Path::new(what), &table, 0, length)?;
        PieceFile::new(blocks, 0, layout, budget, limit)
    }

    /// Lets pieces take what is left of the budget, once everything else is in memory.
    pub(crate) fn allow(&self, budget: &DecodeBudget) {
        self.left.store(budget.left(), Ordering::Relaxed);
    }

    /// Takes so many bytes of what is left.
    fn take(&self, bytes: u64) -> Result<()> {
        let less = |left: u64| left.checked_sub(bytes);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.map(drop).map_err(|_| self.too_large())
    }

    fn too_large(&self) -> Error {
        let (path, what) = (self.blocks.path().into(), "the content of the model".into());
        Error::TooLarge { path, what, needed: None, limit: self.limit }
    }

    fn damaged(&self) -> Error {
        self.blocks.damaged("the model file is damaged")
    }

    /// Reads a block, which is in memory until it is dropped.
    fn read(self: &Arc<PieceFile>, block: usize) -> Result<ReadBlock> {
        let at = self.first_block + block;
        let n_bytes = self.blocks.length(at) as u64;
        self.take(n_bytes)?;
        let mut read = ReadBlock { file: Arc::clone(self), n_bytes, bytes: vec![], ends: vec![] };
        self.blocks.read(at, &mut read.bytes)?;
        let (start, end) = (self.starts[block], self.starts[block + 1]);
        let of_list = |&length: &usize| length.min(end).saturating_sub(start);
        let n_pieces: usize = self.lengths.iter().map(of_list).sum();
        // A piece has at least the byte that says how long it is.
        if n_pieces > read.bytes.len() {
            return Err(self.damaged());
        }
        let of_ends = (n_pieces * size_of::<[u32; 2]>()) as u64;
        self.take(of_ends)?;
        read.n_bytes += of_ends;
        read.ends = piece_ends(&read.bytes, n_pieces).ok_or_else(|| self.damaged())?;
        Ok(read)
    }

    /// How many lists have pieces in a block.
    fn n_lists_in(&self, block: usize) -> usize {
        self.lengths.iter().filter(|&&length| length > self.starts[block]).count()
    }

    /// The pieces of a list that are in a block.
    fn pieces<T: DeserializeOwned>(
        self: &Arc<PieceFile>,
        block: usize,
        list: usize,
        blocks: &ReadBlocks,
        weigh: &impl Fn(&T) -> Option<u64>,
    ) -> Result<Box<[T]>> {
        let read = blocks.get(self, block)?;
        let left = self.left.load(Ordering::Relaxed);
        let budget = DecodeBudget::new(left);
        match self.decoded(block, list, &read, &budget, weigh) {
            Some(pieces) => self.take(left - budget.left()).map(|()| pieces),
            None if budget.is_exhausted() => Err(self.too_large()),
            None => Err(self.damaged()),
        }
    }

    /// The pieces of a list with consecutive numbers, which there are.
    fn pieces_of_range<T: DeserializeOwned>(
        self: &Arc<PieceFile>,
        numbers: Range<usize>,
        list: usize,
        weigh: impl Fn(&T) -> Option<u64>,
    ) -> Result<Vec<T>> {
        let Some((&first, &last)) =
            self.block_of.get(numbers.clone()).and_then(|of| of.first().zip(of.last()))
        else {
            return Ok(Vec::new());
        };
        let mut pieces = Vec::with_capacity(numbers.len());
        for block in first as usize..=last as usize {
            let here = self.starts[block]..;
            let named = here.zip(self.pieces(block, list, &ReadBlocks::default(), &weigh)?);
            pieces.extend(named.filter(|(at, _)| numbers.contains(at)).map(|(_, piece)| piece));
        }
        Ok(pieces)
    }

    /// How many blocks, from the first on, have pieces of a list.
    fn n_blocks_of(&self, list: usize) -> usize {
        self.starts.partition_point(|&start| start < self.lengths[list])
    }

    /// The pieces of one list among those of all; none if one of them is damaged or too large.
    fn decoded<T: DeserializeOwned>(
        &self,
        block: usize,
        list: usize,
        read: &ReadBlock,
        budget: &DecodeBudget,
        weigh: &impl Fn(&T) -> Option<u64>,
    ) -> Option<Box<[T]>> {
        let numbers = self.starts[block]..self.starts[block + 1].min(self.lengths[list]);
        let mut pieces = Vec::with_capacity(numbers.len());
        let mut first = 0;
        for number in numbers {
            let has_it = |length: &&usize| number < **length;
            let n_before = self.lengths[..list].iter().filter(has_it).count();
            let n_from_here = self.lengths[list..].iter().filter(has_it).count();
            budget.take(size_of::<T>() as u64)?;
            let piece: T = decode(read.piece(first + n_before)?, budget)?;
            budget.take(weigh(&piece)?)?;
            pieces.push(piece);
            first += n_before + n_from_here;
        }
        Some(pieces.into())
    }
}

/// Where each of so many pieces starts and ends whose lengths and bytes these are; none if bytes are left, or missing.
fn piece_ends(bytes: &[u8], n_pieces: usize) -> Option<Vec<[u32; 2]>> {
    let (mut rest, mut ends) = (bytes, Vec::with_capacity(n_pieces));
    for _ in 0..n_pieces {
        let length = usize::try_from(packed::take(&mut rest)?).ok()?;
        let start = bytes.len() - rest.len();
        rest = rest.get(length..)?;
        ends.push([start.try_into().ok()?, (start + length).try_into().ok()?]);
    }
    rest.is_empty().then_some(ends)
}

/// A block that was read and checked, and where its pieces start and end. Its bytes are given back when it is
/// dropped.
struct ReadBlock {
    file: Arc<PieceFile>,
    n_bytes: u64,
    bytes: Vec<u8>,
    ends: Vec<[u32; 2]>,
}

impl ReadBlock {
    fn piece(&self, at: usize) -> Option<&[u8]> {
        let [start, end] = *self.ends.get(at)?;
        self.bytes.get(start as usize..end as usize)
    }
}

impl Drop for ReadBlock {
    fn drop(&mut self) {
        self.file.left.fetch_add(self.n_bytes, Ordering::Relaxed);
    }
}

/// Blocks that were read, and stay in memory until every list has taken its pieces out of them, so that each is
/// read once for all members.
#[derive(Default)]
pub struct ReadBlocks(Mutex<HashMap<(usize, usize), WaitingBlock>>);

/// A block that some lists have not asked for yet.
struct WaitingBlock {
    read: Arc<ReadBlock>,
    n_lists_left: usize,
}

impl ReadBlocks {
    /// A block of a file, which is read unless that was done before. Each list asks for it once.
    fn get(&self, file: &Arc<PieceFile>, block: usize) -> Result<Arc<ReadBlock>> {
        let key = (Arc::as_ptr(file).addr(), block);
        if let Entry::Occupied(waiting) = self.lock().entry(key) {
            return Ok(WaitingBlock::take(waiting));
        }
        let read = Arc::new(file.read(block)?);
        match self.lock().entry(key) {
            // Another thread has read the same meanwhile.
            Entry::Occupied(waiting) => Ok(WaitingBlock::take(waiting)),
            Entry::Vacant(place) => {
                let n_lists_left = file.n_lists_in(block).saturating_sub(1);
                if n_lists_left > 0 {
                    place.insert(WaitingBlock { read: Arc::clone(&read), n_lists_left });
                }
                Ok(read)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(usize, usize), WaitingBlock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingBlock {
    /// The block for one more list; with the last, it waits no longer.
    fn take(mut waiting: OccupiedEntry<(usize, usize), WaitingBlock>) -> Arc<ReadBlock> {
        let block = waiting.get_mut();
        block.n_lists_left -= 1;
        let read = Arc::clone(&block.read);
        if block.n_lists_left == 0 {
            waiting.remove();
        }
        read
    }
}

/// A list of pieces of a model, in memory or, as far as nobody has asked for them, in its file.
#[derive(Clone, Debug)]
pub struct Pieces<T>(Kept<T>);

#[derive(Clone, Debug)]
enum Kept<T> {
    InMemory(Vec<T>),
    InFile { file: Arc<PieceFile>, list: usize, by_block: Vec<OnceLock<Box<[T]>>> },
}

impl<T> Default for Pieces<T> {
    fn default() -> Pieces<T> {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Pieces<T> {
    fn from(pieces: Vec<T>) -> Pieces<T> {
        Pieces(Kept::InMemory(pieces))
    }
}

impl<T> Pieces<T> {
    /// The list of this number of a file, nothing of which is read yet; none if there is no such list.
    pub fn in_file(file: &Arc<PieceFile>, list: usize, budget: &DecodeBudget) -> Option<Pieces<T>> {
        let n_blocks = (list < file.lengths.len()).then(|| file.n_blocks_of(list))?;
        budget.take((n_blocks * size_of::<OnceLock<Box<[T]>>>()) as u64)?;
        let by_block = std::iter::repeat_with(OnceLock::new).take(n_blocks).collect();
        Some(Pieces(Kept::InFile { file: Arc::clone(file), list, by_block }))
    }

    /// How many pieces, in memory or not.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::InMemory(pieces) => pieces.len(),
            Kept::InFile { file, list, .. } => file.lengths[*list],
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A piece, if it is in memory.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&T> {
        match &self.0 {
            Kept::InMemory(pieces) => pieces.get(number),
            Kept::InFile { file, by_block, .. } => {
                let block = *file.block_of.get(number)? as usize;
                by_block.get(block)?.get()?.get(number - file.starts[block])
            }
        }
    }

    /// All pieces, where all are [in memory](Pieces::load_all).
    pub fn into_vec(self) -> Option<Vec<T>> {
        match self.0 {
            Kept::InMemory(pieces) => Some(pieces),
            Kept::InFile { by_block, .. } => {
                let blocks = by_block.into_iter().map(OnceLock::into_inner);
                Some(blocks.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
            }
        }
    }

    /// The pieces that are in memory, in the order of their numbers.
    pub fn loaded(&self) -> impl Iterator<Item = &T> {
        let (in_memory, by_block) = match &self.0 {
            Kept::InMemory(pieces) => (&pieces[..], &[][..]),
            Kept::InFile { by_block, .. } => (&[][..], &by_block[..]),
        };
        in_memory.iter().chain(by_block.iter().filter_map(OnceLock::get).flatten())
    }
}

impl<T: DeserializeOwned + Clone> Pieces<T> {
    /// Some consecutive pieces, as far as there are any, read anew where they come from a file, and not kept
    /// here: for who makes something else of them. See [`Pieces::load`].
    pub fn read(&self, numbers: Range<usize>, weigh: impl Fn(&T) -> Option<u64>) -> Result<Vec<T>> {
        let numbers = numbers.start..numbers.end.min(self.len());
        match &self.0 {
            Kept::InMemory(pieces) => Ok(pieces.get(numbers).unwrap_or_default().to_vec()),
            Kept::InFile { file, list, .. } => file.pieces_of_range(numbers, *list, weigh),
        }
    }
}

impl<T: DeserializeOwned> Pieces<T> {
    /// Reads all pieces, unless all are in memory. See [`Pieces::load`].
    pub fn load_all(&self, blocks: &ReadBlocks, weigh: impl Fn(&T) -> Option<u64>) -> Result<()> {
        match &self.0 {
            Kept::InMemory(_) => Ok(()),
            Kept::InFile { file, by_block, .. } => {
                self.load(file.starts[..by_block.len()].iter().copied(), blocks, weigh)
            }
        }
    }

    /// Reads the pieces named, as far as they are not in memory yet, and others that stand beside them, out of
    /// `blocks`, where other lists of the same file find them too.
    /// `weigh` says of a piece that was read how many bytes it may take beside its own while it is used, or none if
    /// it is not what the model can have.
    pub fn load(
        &self,
        numbers: impl IntoIterator<Item = usize>,
        blocks: &ReadBlocks,
        weigh: impl Fn(&T) -> Option<u64>,
    ) -> Result<()> {
        let Kept::InFile { file, list, by_block } = &self.0 else { return Ok(()) };
        for number in numbers {
            let Some(&block) = file.block_of.get(number) else { continue };
            let Some(cell) = by_block.get(block as usize) else { continue };
            if cell.get().is_none() {
                let pieces = file.pieces(block as usize, *list, blocks, &weigh)?;
                // Another thread may have read the same meanwhile.
                let _ = cell.set(pieces);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;
    use crate::blocks::{Source, table, write};

    const ALL: u64 = u64::MAX;

    /// Lists in a file whose blocks were changed by hand before their checksums were made.
    fn file(lists: &[Vec<String>], forge: impl Fn(&mut [Vec<u8>])) -> Arc<PieceFile> {
        let mut writer = PieceWriter::default();
        for (number, list) in lists.iter().enumerate() {
            assert_eq!(writer.add(list.iter()).unwrap(), number);
        }
        let (layout, mut blocks) = writer.into_blocks();
        forge(&mut blocks);
        let mut bytes = Vec::new();
        write(&[], &[], &blocks, &mut bytes).unwrap();
        let (table, end) = (table(&blocks), bytes.len() as u64);
        let source = Source::Memory(bytes.into());
        let blocks = BlockFile::new(source, "m".as_ref(), &table, 0, end).unwrap();
        let budget = DecodeBudget::new(ALL);
        let file = PieceFile::new(blocks, 0, layout, &budget, ALL).unwrap();
        file.allow(&budget);
        Arc::new(file)
    }

    /// Lists of different lengths, of pieces that are empty, small, and larger than a block.
    fn lists() -> Vec<Vec<String>> {
        let piece = |of: usize| format!("{of}:").repeat(of * of % 3001);
        [0, 70, 3, 40].iter().map(|&n| (0..n).map(|at| piece(at * n)).collect()).collect()
    }

    fn weightless(_: &String) -> Option<u64> {
        Some(0)
    }

    #[test]
    fn pieces_are_loaded_as_they_are_named() {
        let lists = lists();
        let file = file(&lists, |blocks| assert!(blocks.len() > 10, "{}", blocks.len()));
        let in_file = |list| Pieces::in_file(&file, list, &DecodeBudget::new(ALL));
        assert!(in_file(lists.len()).is_none());
        let blocks = ReadBlocks::default();
        for (number, list) in lists.iter().enumerate() {
            let pieces: Pieces<String> = in_file(number).unwrap();
            assert_eq!((pieces.len(), pieces.loaded().count()), (list.len(), 0));
            for (start, end) in [(0, 0), (0, 999), (1, 2), (17, 31)] {
                let read = pieces.read(start..end, weightless).unwrap();
                assert_eq!(&read, list.get(start..end.min(list.len())).unwrap_or_default());
            }
            assert_eq!(pieces.loaded().count(), 0, "what is read for somebody else is not kept");
            for (at, piece) in list.iter().enumerate().rev() {
                pieces.load([at, 999], &ReadBlocks::default(), weightless).unwrap();
                assert_eq!(pieces.get(at), Some(piece));
            }
            assert_eq!(pieces.get(list.len()), None);
            let at_once: Pieces<String> = in_file(number).unwrap();
            at_once.load_all(&blocks, weightless).unwrap();
            assert!(at_once.loaded().eq(list));
            assert_eq!(at_once.get(list.len()), None);
        }
        let some: Pieces<String> = in_file(1).unwrap();
        some.load([50], &blocks, weightless).unwrap();
        assert!((1..20).contains(&some.loaded().count()), "{}", some.loaded().count());
    }

    #[test]
    fn a_block_is_read_once_for_all_lists_and_given_back_after_the_last() {
        let list: Vec<String> = (0..9).map(|at| format!("{at}")).collect();
        let file = file(&[list.clone(), list.clone(), list], |blocks| assert_eq!(blocks.len(), 1));
        let left = || file.left.load(Ordering::Relaxed);
        let blocks = ReadBlocks::default();
        let pieces: [Pieces<String>; 3] =
            [0, 1, 2].map(|of| Pieces::in_file(&file, of, &DecodeBudget::new(ALL)).unwrap());
        let mut reads = Vec::new();
        for of in &pieces {
            let before = left();
            of.load([4], &blocks, weightless).unwrap();
            reads.push((before.wrapping_sub(left()), blocks.lock().len()));
        }
        let [(first, 1), (second, 1), (last, 0)] = reads[..] else { panic!("{reads:?}") };
        // Of nine pieces: those of the second are charged alone, and with the last the block is given back.
        let of_list = second;
        let of_block = first - of_list;
        assert!(of_block > 0);
        assert_eq!(last, of_list.wrapping_sub(of_block));
    }

    #[test]
    fn threads_that_read_a_block_at_the_same_time_leave_nothing_behind() {
        let lists: Vec<Vec<String>> = (0..8).map(|of| vec![format!("{of}"); 9]).collect();
        for _ in 0..50 {
            let file = file(&lists, |_| ());
            let (blocks, all_are_here) = (ReadBlocks::default(), Barrier::new(lists.len()));
            std::thread::scope(|scope| {
                for of in 0..lists.len() {
                    let pieces: Pieces<String> =
                        Pieces::in_file(&file, of, &DecodeBudget::new(ALL)).unwrap();
                    let (blocks, all_are_here) = (&blocks, &all_are_here);
                    scope.spawn(move || {
                        all_are_here.wait();
                        pieces.load_all(blocks, weightless).unwrap();
                    });
                }
            });
            assert!(blocks.lock().is_empty());
        }
    }

    #[test]
    fn lists_that_members_share_are_there_once() {
        let (all, some): (Arc<[usize]>, Arc<[usize]>) = ([4, 5, 9].into(), [5].into());
        let values: [Arc<[f64]>; 3] = [[0.0, 1.0].into(), [-0.0, 1.0].into(), [0.0, 1.0].into()];
        let mut writer = PieceWriter::default();
        let again: Arc<[usize]> = [4, 5, 9].into();
        let places = [&all, &some, &again].map(|list| writer.share_numbers(list));
        assert_eq!(places, [0, 1, 0]);
        // Zeros of another sign are other values.
        assert_eq!(values.each_ref().map(|list| writer.share_values(list)), [0, 1, 0]);
        let budget = DecodeBudget::new(1 << 20);
        let file = PieceFile::of_bytes(&writer.into_bytes().unwrap(), "m", &budget).unwrap();
        assert_eq!(
            (file.numbers(0), file.numbers(1), file.numbers(2)),
            (Some(&all), Some(&some), None)
        );
        assert_eq!(file.values(1), Some(&values[1]));
        assert!(file.values(1).unwrap()[0].is_sign_negative());
    }

    #[test]
    fn what_is_not_sound_or_too_large_is_an_error() {
        let lists = [vec!["ab".to_string(), "cd".into()]];
        let load = |file: &Arc<PieceFile>, weigh: &dyn Fn(&String) -> Option<u64>| {
            let pieces = Pieces::in_file(file, 0, &DecodeBudget::new(ALL)).unwrap();
            pieces.load([0], &ReadBlocks::default(), weigh)
        };
        let sound = file(&lists, |_| ());
        assert!(load(&sound, &weightless).is_ok());
        let refused = load(&sound, &|piece| (piece != "cd").then_some(0));
        assert!(matches!(refused, Err(Error::Model { .. })), "it stands beside the piece named");
        assert!(matches!(load(&sound, &|_| Some(ALL)), Err(Error::TooLarge { .. })));
        sound.allow(&DecodeBudget::new(20));
        assert!(matches!(load(&sound, &weightless), Err(Error::TooLarge { .. })));

        // A block of two pieces: length 3, length 2 and "ab"; the same with "cd".
        let forged = |at: usize, byte: u8| file(&lists, |blocks| blocks[0][at] = byte);
        for (at, byte) in [(0, 4), (0, 0xff), (1, 9), (4, 2), (5, 0x80)] {
            let refused = load(&forged(at, byte), &weightless);
            assert!(matches!(refused, Err(Error::Model { .. })), "{at} {byte}");
        }
    }

    #[test]
    fn a_layout_that_no_file_has_is_refused() {
        let new = |lengths: &[usize], n_numbers: &[u32]| {
            let blocks = vec![vec![0]; 2];
            let source = Source::Memory([0, 0].into());
            let blocks = BlockFile::new(source, "m".as_ref(), &table(&blocks), 0, 2).unwrap();
            let (lengths, n_numbers) = (lengths.into(), n_numbers.into());
            let layout = PieceLayout { lengths, n_numbers, shared: Shared::default() };
            PieceFile::new(blocks, 0, layout, &DecodeBudget::new(1000), 1000).is_some()
        };
        assert!(new(&[1, 3], &[1, 2]));
        assert!(!new(&[1, 3], &[1, 1]), "a number is in no block");
        assert!(!new(&[1, 3], &[1, 3]), "a block has more numbers than there are");
        assert!(!new(&[1, 3], &[3, 0]), "a block has none");
        assert!(!new(&[1, 3], &[3]), "a block is left");
        assert!(!new(&[usize::MAX], &[1, 1]) && !new(&[2000], &[1000, 1000]), "too many");
    }
}
