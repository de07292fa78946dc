//! Names that the module gives, as enums that are open to new ones.

/// Defines an enum of names with [`as_str`](crate::Role::as_str), `From<String>`,
/// `Display` and serde's traits. What this version does not know is `Other`.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$of])* #[doc = concat!("`", $text, "`")] $variant,)*
            /// A name of a later version of the module.
            Other(String),
        }

        impl $name {
            /// All names that this version knows.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name as it is in the JSON.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(name) => name,
                }
            }
        }

        impl From<String> for $name {
            fn from(name: String) -> Self {
                match name.as_str() {
                    $($text => Self::$variant,)*
                    _ => Self::Other(name),
                }
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use names;
