//! Decoding bytes of unknown origin, charged to an account.
//!
//! A byte of a model file can stand for much more in memory: an empty name is one byte there and a
//! `String` of 24 here. So every element of a sequence is charged with the size of its type before it
//! is decoded, and decoding ends when the account is empty. Which types there are does not matter:
//! the charge is made between postcard and whatever serde decodes.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, Serialize};

/// Bytes that decoding may still take.
#[derive(Debug)]
pub struct DecodeBudget(Cell<u64>);

impl DecodeBudget {
    /// So many bytes.
    pub fn new(bytes: u64) -> DecodeBudget {
        DecodeBudget(Cell::new(bytes))
    }

    /// Whether decoding ended because there were not enough.
    pub fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }

    /// How many are left.
    pub(crate) fn left(&self) -> u64 {
        self.0.get()
    }

    /// Takes so many bytes; none if there are not enough.
    pub(crate) fn take(&self, bytes: u64) -> Option<()> {
        let left = self.0.get().saturating_sub(bytes);
        self.0.set(left);
        (left > 0).then_some(())
    }

    fn charge<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.take(bytes as u64).ok_or_else(|| E::custom("more memory than allowed"))
    }
}

/// Whole numbers as bytes: seven bits each, the lowest first; the highest bit of a byte says that there are
/// more. As a field, `#[serde(with = "packed")]`, they are written and read all at once, and charged with what
/// they take when each is unpacked to eight bytes.
pub(crate) mod packed {
    use std::fmt;

    use serde::{Deserializer, Serializer, de};

    pub(crate) fn push(packed: &mut Vec<u8>, mut number: u64) {
        while number >= 0x80 {
            packed.push(number as u8 | 0x80);
            number >>= 7;
        }
        packed.push(number as u8);
    }

    /// The next number, which is taken off; none at the end, or if it is cut off or too large.
    #[inline]
    pub(crate) fn take(packed: &mut &[u8]) -> Option<u64> {
        // Most numbers are small and have one byte.
        if let Some((&byte @ 0..0x80, rest)) = packed.split_first() {
            *packed = rest;
            return Some(byte.into());
        }
        take_long(packed)
    }

    /// The same for a number of any length.
    fn take_long(packed: &mut &[u8]) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = packed.split_first()?;
            *packed = rest;
            let bits = u64::from(byte & 0x7f);
            if shift > 63 || bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Box<[u8]>, D::Error> {
        struct Bytes;
        impl de::Visitor<'_> for Bytes {
            type Value = Box<[u8]>;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Box<[u8]>, E> {
                Ok(bytes.into())
            }
        }
        from.deserialize_byte_buf(Bytes)
    }
}

/// A list of numbers as the gaps between them, which are small where the numbers ascend.
#[derive(PartialEq, Serialize, Deserialize)]
pub(crate) struct Gaps(#[serde(with = "packed")] Box<[u8]>);

impl Gaps {
    pub(crate) fn between(numbers: &[usize]) -> Gaps {
        let (mut bytes, mut before) = (Vec::with_capacity(numbers.len()), 0);
        for &number in numbers {
            packed::push(&mut bytes, (number as u64).wrapping_sub(before));
            before = number as u64;
        }
        Gaps(bytes.into())
    }

    /// The numbers; none if they are damaged.
    pub(crate) fn numbers(&self) -> Option<Vec<usize>> {
        let (mut bytes, mut number) = (&self.0[..], 0u64);
        let mut numbers = Vec::with_capacity(bytes.len());
        while !bytes.is_empty() {
            number = number.wrapping_add(packed::take(&mut bytes)?);
            numbers.push(number.try_into().ok()?);
        }
        Some(numbers)
    }
}

/// Reads an object back from its bytes; none if they are damaged or become too much.
pub type Decode<T> = fn(&[u8], &DecodeBudget) -> Option<Arc<T>>;

/// Decodes what postcard wrote; none if it is damaged, too large for the budget, or if bytes are left.
pub fn decode<'b, T: Deserialize<'b>>(bytes: &'b [u8], budget: &DecodeBudget) -> Option<T> {
    let mut from = postcard::Deserializer::from_bytes(bytes);
    let decoded = T::deserialize(Charged { inner: &mut from, budget }).ok()?;
    from.finalize().ok()?.is_empty().then_some(decoded)
}

/// A part of serde's machinery, with the account that it is charged to.
#[derive(Clone, Copy)]
struct Charged<'a, T> {
    inner: T,
    budget: &'a DecodeBudget,
}

/// Forwards the methods of a deserializer, with a visitor that goes on charging.
macro_rules! forward {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method<V: Visitor<'d>>(self $(, $argument: $type)*, visitor: V) -> Result<V::Value, D::Error> {
            let visitor = Charged { inner: visitor, budget: self.budget };
            self.inner.$method($($argument,)* visitor)
        })*
    };
}

impl<'d, D: Deserializer<'d>> Deserializer<'d> for Charged<'_, D> {
    type Error = D::Error;

    forward! {
        deserialize_any(); deserialize_bool(); deserialize_i8(); deserialize_i16();
        deserialize_i32(); deserialize_i64(); deserialize_i128(); deserialize_u8();
        deserialize_u16(); deserialize_u32(); deserialize_u64(); deserialize_u128();
        deserialize_f32(); deserialize_f64(); deserialize_char(); deserialize_str();
        deserialize_string(); deserialize_bytes(); deserialize_option();
        deserialize_unit(); deserialize_seq(); deserialize_map(); deserialize_identifier();
        deserialize_ignored_any();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }

    fn deserialize_byte_buf<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_byte_buf(Packed { inner: visitor, budget: self.budget })
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Visits [`packed`] numbers.
struct Packed<'a, V> {
    inner: V,
    budget: &'a DecodeBudget,
}

impl<'d, V: Visitor<'d>> Visitor<'d> for Packed<'_, V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.inner.expecting(formatter)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<V::Value, E> {
        self.budget.charge(bytes.len().saturating_mul(size_of::<u64>()))?;
        self.inner.visit_bytes(bytes)
    }
}

/// Forwards a value that takes no memory of its own.
macro_rules! visit {
    ($($method:ident($type:ty);)*) => {
        $(fn $method<E: serde::de::Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$method(value)
        })*
    };
}

impl<'d, V: Visitor<'d>> Visitor<'d> for Charged<'_, V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.inner.expecting(formatter)
    }

    visit! {
        visit_bool(bool); visit_i8(i8); visit_i16(i16); visit_i32(i32); visit_i64(i64);
        visit_i128(i128); visit_u8(u8); visit_u16(u16); visit_u32(u32); visit_u64(u64);
        visit_u128(u128); visit_f32(f32); visit_f64(f64); visit_char(char);
        // A piece of the file, of which nothing is copied here.
        visit_borrowed_bytes(&'d [u8]);
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<V::Value, E> {
        self.budget.charge(text.len())?;
        self.inner.visit_str(text)
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'d str) -> Result<V::Value, E> {
        self.budget.charge(text.len())?;
        self.inner.visit_borrowed_str(text)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<V::Value, E> {
        self.budget.charge(bytes.len())?;
        self.inner.visit_bytes(bytes)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'d>>(self, from: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(Charged { inner: from, budget: self.budget })
    }

    fn visit_newtype_struct<D: Deserializer<'d>>(self, from: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(Charged { inner: from, budget: self.budget })
    }

    fn visit_seq<A: SeqAccess<'d>>(self, from: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(Charged { inner: from, budget: self.budget })
    }

    fn visit_map<A: MapAccess<'d>>(self, from: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Charged { inner: from, budget: self.budget })
    }

    fn visit_enum<A: EnumAccess<'d>>(self, from: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(Charged { inner: from, budget: self.budget })
    }
}

impl<'d, S: DeserializeSeed<'d>> DeserializeSeed<'d> for Charged<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'d>>(self, from: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Charged { inner: from, budget: self.budget })
    }
}

impl<'d, A: SeqAccess<'d>> SeqAccess<'d> for Charged<'_, A> {
    type Error = A::Error;

    /// An element that takes no bytes in the file still takes a step, so it is charged with one.
    fn next_element_seed<S: DeserializeSeed<'d>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.budget.charge(size_of::<S::Value>().max(1))?;
        self.inner.next_element_seed(Charged { inner: seed, budget: self.budget })
    }

    /// Vectors take room for so many at once, so it must be affordable.
    fn size_hint(&self) -> Option<usize> {
        let affordable = usize::try_from(self.budget.0.get() / 64).unwrap_or(usize::MAX);
        self.inner.size_hint().map(|hint| hint.min(affordable))
    }
}

impl<'d, A: MapAccess<'d>> MapAccess<'d> for Charged<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'d>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.budget.charge(size_of::<S::Value>().max(1))?;
        self.inner.next_key_seed(Charged { inner: seed, budget: self.budget })
    }

    fn next_value_seed<S: DeserializeSeed<'d>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.budget.charge(size_of::<S::Value>())?;
        self.inner.next_value_seed(Charged { inner: seed, budget: self.budget })
    }
}

impl<'a, 'd, A: EnumAccess<'d>> EnumAccess<'d> for Charged<'a, A> {
    type Error = A::Error;
    type Variant = Charged<'a, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'d>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let budget = self.budget;
        let (value, variant) = self.inner.variant_seed(Charged { inner: seed, budget })?;
        Ok((value, Charged { inner: variant, budget }))
    }
}

impl<'d, A: VariantAccess<'d>> VariantAccess<'d> for Charged<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'d>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.newtype_variant_seed(Charged { inner: seed, budget: self.budget })
    }

    fn tuple_variant<V: Visitor<'d>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.inner.tuple_variant(length, Charged { inner: visitor, budget: self.budget })
    }

    fn struct_variant<V: Visitor<'d>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.inner.struct_variant(fields, Charged { inner: visitor, budget: self.budget })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_decoded_and_what_does_not_is_refused() {
        type Content = (Vec<String>, Option<(u32, Vec<f64>)>, Vec<Vec<u8>>, char);
        let content: Content =
            (vec!["ab".into(); 3], Some((7, vec![0.5; 4])), vec![vec![1, 2], vec![]], 'x');
        let bytes = postcard::to_stdvec(&content).unwrap();
        let read = |limit| {
            let budget = DecodeBudget::new(limit);
            (decode::<Content>(&bytes, &budget), budget)
        };
        assert_eq!(read(1 << 20).0, Some(content));
        let (refused, budget) = read(200);
        assert!(refused.is_none() && budget.is_exhausted());
        let (cut, budget) = {
            let budget = DecodeBudget::new(1 << 20);
            (decode::<Content>(&bytes[..bytes.len() - 1], &budget), budget)
        };
        assert!(cut.is_none() && !budget.is_exhausted());
        let more = [&bytes[..], &[0]].concat();
        assert!(decode::<Content>(&more, &budget).is_none(), "a byte is left");
    }

    #[test]
    fn a_million_empty_names_cost_what_they_take() {
        let names = vec![String::new(); 1_000_000];
        let bytes = postcard::to_stdvec(&names).unwrap();
        let n_bytes = 24 * names.len() as u64;
        let read = |limit| decode::<Vec<String>>(&bytes, &DecodeBudget::new(limit));
        assert!(read(n_bytes).is_none());
        assert!(read(n_bytes + 100).is_some());
    }

    #[test]
    fn any_list_of_numbers_reads_back() {
        for list in [vec![], vec![0], vec![7, 300, 1 << 40], vec![9, 2, 2], vec![usize::MAX, 0]] {
            assert_eq!(Gaps::between(&list).numbers(), Some(list));
        }
    }

    #[test]
    fn elements_without_bytes_are_charged_too() {
        let bytes = postcard::to_stdvec(&(1u64 << 60)).unwrap();
        assert!(decode::<Vec<()>>(&bytes, &DecodeBudget::new(1 << 20)).is_none());
    }
}
