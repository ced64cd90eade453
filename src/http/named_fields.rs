//! JSON objects where fields have names: serde takes a list for them too, in the order of the code.
//!
//! `{"function": ["Bash", "{}"]}` means nothing to anybody, and what it would mean could change with
//! each field that is added. Only the deserializer knows where fields are meant, so it refuses there.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// A deserializer of a self-describing format that takes no list in the place of an object, at any
/// depth. (What an untagged or flattened type buffers it does not see.)
pub(super) struct NamedFields<D>(pub(super) D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for NamedFields<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Within(visitor))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Within(visitor))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Within(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Within(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier
    }
}

/// Hands on what is visited, and wraps whatever is inside.
struct Within<V>(V);

macro_rules! hand_on {
    ($($method:ident($kind:ty)),* $(,)?) => {
        $(fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Within<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    hand_on! {
        visit_bool(bool), visit_i64(i64), visit_i128(i128), visit_u64(u64), visit_u128(u128), visit_f64(f64),
        visit_str(&str), visit_borrowed_str(&'de str), visit_string(String),
        visit_bytes(&[u8]), visit_borrowed_bytes(&'de [u8]), visit_byte_buf(Vec<u8>),
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(NamedFields(deserializer))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(NamedFields(deserializer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Within(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Within(fields))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(variant)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Within<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Within(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Within<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Within(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Within<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(NamedFields(deserializer))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::Value;

    use super::*;
    use crate::domain::approval::DecisionRequest;
    use crate::domain::call::ToolCall;
    use crate::session::NewSession;

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
        T::deserialize(NamedFields(&mut serde_json::Deserializer::from_str(text)))
    }

    #[test]
    fn a_list_is_no_object_at_any_depth() {
        for text in [
            r#"["run"]"#,
            r#"{"runtime":[true]}"#,
            r#"{"runtime":[null,null]}"#,
            r#"{"tools":[["open_ticket","d",{},"client"]]}"#,
        ] {
            let error = read::<NewSession>(text).unwrap_err().to_string();
            assert!(error.contains("invalid type: sequence"), "{text}: {error}");
        }
        assert!(read::<ToolCall>(r#"{"function":["Bash","{}"]}"#).is_err());
        assert!(read::<Vec<Option<ToolCall>>>(r#"[["c","function",{"name":"Read"}]]"#).is_err());
    }

    #[test]
    fn everything_else_is_as_it_was() {
        let call = r#"{"id":"c","type":"function","function":{"name":"Read","arguments":{"a":1,"a":[2]}},"more":[{}]}"#;
        assert_eq!(read::<ToolCall>(call).unwrap(), serde_json::from_str(call).unwrap());
        let session = r#"{"session_id":null,"workspace":"é","labels":{"a":"b"},"runtime":{"permission_mode":"plan"},
            "tools":[{"name":"t","description":"","parameters":{"a":[1,-2,0.5,null,true]},"kind":"client"}]}"#;
        assert_eq!(read::<NewSession>(session).unwrap(), serde_json::from_str(session).unwrap());
        let decision = r#"{"decision":"allow","scope":"always","arguments":{"a":[{"b":[]}]},"message":"m"}"#;
        assert_eq!(read::<DecisionRequest>(decision).unwrap(), serde_json::from_str(decision).unwrap());
        let any = r#"[1,18446744073709551615,-1,1e300,"x",null,{"k":[[]]}]"#;
        assert_eq!(read::<Value>(any).unwrap(), serde_json::from_str::<Value>(any).unwrap());
    }
}
