//! Choices with names: enumerations that files, the command line and Python write alike.
//!
//! [`choices!`](crate::choices) declares one. Its documentation is the sentence that help texts show, so that a choice is
//! described once.

/// Declares an enumeration of named choices, with `ALL`, `name`, `sentence`, `FromStr`, `Display` and serde by name.
///
/// ```
/// restive_tables::choices! {
///     /// How loud.
///     Volume {
///         /// Hardly to be heard
///         Low = "low",
///         /// As loud as it goes
///         High = "high",
///     }
/// }
/// assert_eq!("high".parse(), Ok(Volume::High));
/// assert_eq!(Volume::Low.sentence(), "Hardly to be heard");
/// assert_eq!("loud".parse::<Volume>(), Err("found \"loud\", expected one of low, high".into()));
/// ```
#[macro_export]
macro_rules! choices {
    ($(#[$about:meta])* $choice:ident {
        $(#[doc = $sentence:literal] $variant:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $choice { $(#[doc = $sentence] #[serde(rename = $name)] $variant),+ }

        impl $choice {
            /// All of them, in the order in which help lists them.
            pub const ALL: &'static [$choice] = &[$(Self::$variant),+];

            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The names and sentences of all.
            pub fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
                Self::ALL.iter().map(|choice| (choice.name(), choice.sentence()))
            }

            /// What it means, for help texts.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence.trim_ascii_start()),+ }
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $choice {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                let names = [$($name),+];
                let found = Self::ALL.iter().find(|choice| choice.name() == text);
                found.copied().ok_or_else(|| {
                    let found = $crate::show::quoted_name(text);
                    format!("found {found}, expected one of {}", names.join(", "))
                })
            }
        }
    };
}
