//! Words that stand in the ledger for the variants of an enumeration: text, so that whoever opens the file by hand can read it.

/// Gives an enumeration its words, there and back, in Rust and in SQLite.
macro_rules! words {
    ($name:ident { $($variant:ident: $word:literal),+ $(,)? }) => {
        impl $name {
            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its word.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The one with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.word().into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                let word = value.as_str()?;
                Self::from_word(word).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|one| one.word()).collect();
                    let told = format!("found {word:?}, expected one of {}", words.join(", "));
                    rusqlite::types::FromSqlError::Other(told.into())
                })
            }
        }
    };
}

pub(crate) use words;
