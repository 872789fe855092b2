//! What Bazel's `starlark_doc_extract` writes about a `.bzl` file: the messages of its
//! `stardoc_output.proto`, as far as the page shows them.

use prost::Message;

/// A `.bzl` file.
#[derive(Clone, PartialEq, Message)]
pub struct ModuleInfo {
    #[prost(message, repeated, tag = "1")]
    pub rules: Vec<Rule>,
    #[prost(message, repeated, tag = "2")]
    pub providers: Vec<Provider>,
    #[prost(message, repeated, tag = "3")]
    pub functions: Vec<Function>,
    #[prost(message, repeated, tag = "7")]
    pub extensions: Vec<Extension>,
}

/// A rule, or a tag of a module extension: both messages have these fields alike.
#[derive(Clone, PartialEq, Message)]
pub struct Rule {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub doc: String,
    #[prost(message, repeated, tag = "3")]
    pub attributes: Vec<Attribute>,
}

/// An attribute of a rule or of a tag.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub doc: String,
    #[prost(bool, tag = "4")]
    pub mandatory: bool,
    /// As Starlark writes it.
    #[prost(string, tag = "6")]
    pub default: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Provider {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub doc: String,
    #[prost(message, repeated, tag = "3")]
    pub fields: Vec<Field>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Field {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub doc: String,
}

/// A function: of those for users, each is a macro.
#[derive(Clone, PartialEq, Message)]
pub struct Function {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, repeated, tag = "2")]
    pub parameters: Vec<Parameter>,
    #[prost(string, tag = "3")]
    pub doc: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Parameter {
    /// Without asterisks.
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub doc: String,
    #[prost(string, tag = "3")]
    pub default: String,
    #[prost(bool, tag = "4")]
    pub mandatory: bool,
}

/// A module extension.
#[derive(Clone, PartialEq, Message)]
pub struct Extension {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, repeated, tag = "3")]
    pub tags: Vec<Rule>,
}
