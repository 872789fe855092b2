//! The page: a section for each rule or macro, for each tag of a module extension, for each provider.

use crate::module_info::{Attribute, Function, ModuleInfo, Provider, Rule};

/// What has a section of its own, with a row for each of what it takes or holds.
struct Section {
    name: String,
    doc: String,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    doc: String,
    omitted: Omitted,
}

/// What counts where a user says nothing.
enum Omitted {
    /// Something has to be said.
    Required,
    /// As Starlark writes it.
    Value(String),
    /// Nothing: of a field, or of what takes the rest.
    Nothing,
}

/// What users get, and are told nothing about.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is for users; wanted a docstring that says what it is, found none: write one where it is declared")]
pub struct Silent(String);

/// The page on what some `.bzl` files give to users, in Markdown.
///
/// # Errors
///
/// `Silent`: of a rule, macro, tag or provider, or of what it takes or holds, its name behind a dot.
pub fn page(modules: &[ModuleInfo]) -> Result<String, Silent> {
    let mut rules: Vec<Section> = Vec::new();
    let mut tags: Vec<Section> = Vec::new();
    let mut providers: Vec<Section> = Vec::new();
    for module in modules {
        rules.extend(module.rules.iter().map(of_rule));
        rules.extend(module.functions.iter().map(of_macro));
        for extension in &module.extensions {
            tags.extend(extension.tags.iter().map(|tag| Section {
                name: format!("{}.{}", extension.name, tag.name),
                ..of_rule(tag)
            }));
        }
        providers.extend(module.providers.iter().map(of_provider));
    }
    let mut text = String::from("# Reference\n\nMade from the docstrings, by `tools/reference`.\n");
    for (title, mut sections) in [
        ("Rules, of `@rules_offload//rules:defs.bzl`", rules),
        ("Tags, of `@rules_offload//toolchains:extensions.bzl`", tags),
        ("Providers, of `@rules_offload//rules:defs.bzl`", providers),
    ] {
        text += &format!("\n## {title}\n");
        sections.sort_by(|a, b| a.name.cmp(&b.name));
        for section in &sections {
            text += &written(section)?;
        }
    }
    Ok(text)
}

fn written(section: &Section) -> Result<String, Silent> {
    let Section { name, doc, rows } = section;
    if doc.trim().is_empty() {
        return Err(Silent(name.clone()));
    }
    let mut text = format!("\n### {name}\n\n{}\n", doc.trim());
    let takes_something = rows
        .iter()
        .any(|row| !matches!(row.omitted, Omitted::Nothing));
    text += if takes_something {
        "\n| attribute | default | what it is |\n| --- | --- | --- |\n"
    } else {
        "\n| field | what it is |\n| --- | --- |\n"
    };
    for row in rows {
        if row.doc.trim().is_empty() {
            return Err(Silent(format!("{name}.{}", row.name)));
        }
        text += &format!("| `{}` |", row.name);
        if takes_something {
            text += &match &row.omitted {
                Omitted::Required => " required |".to_owned(),
                Omitted::Value(value) => format!(" `{value}` |"),
                Omitted::Nothing => " |".to_owned(),
            };
        }
        text += &format!(" {} |\n", cell(&row.doc));
    }
    Ok(text)
}

/// In one line; a bar would end the cell.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

fn of_rule(rule: &Rule) -> Section {
    Section {
        name: rule.name.clone(),
        doc: rule.doc.clone(),
        rows: rule.attributes.iter().map(of_attribute).collect(),
    }
}

fn of_attribute(attribute: &Attribute) -> Row {
    Row {
        name: attribute.name.clone(),
        doc: attribute.doc.clone(),
        omitted: omitted(attribute.mandatory, &attribute.default),
    }
}

fn omitted(mandatory: bool, value: &str) -> Omitted {
    match value {
        _ if mandatory => Omitted::Required,
        "" => Omitted::Nothing,
        value => Omitted::Value(value.to_owned()),
    }
}

fn of_macro(function: &Function) -> Section {
    let rows = function.parameters.iter().map(|parameter| {
        let omitted = omitted(parameter.mandatory, &parameter.default);
        let rest = match omitted {
            Omitted::Nothing => "**",
            _ => "",
        };
        Row {
            name: format!("{rest}{}", parameter.name),
            doc: parameter.doc.clone(),
            omitted,
        }
    });
    Section {
        name: function.name.clone(),
        doc: function.doc.clone(),
        rows: rows.collect(),
    }
}

fn of_provider(provider: &Provider) -> Section {
    let rows = provider.fields.iter().map(|field| Row {
        name: field.name.clone(),
        doc: field.doc.clone(),
        omitted: Omitted::Nothing,
    });
    Section {
        name: provider.name.clone(),
        doc: provider.doc.clone(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module_info::{Extension, Field, Parameter};

    fn attribute(name: &str, doc: &str, mandatory: bool) -> Attribute {
        Attribute {
            name: name.to_owned(),
            doc: doc.to_owned(),
            mandatory,
            default: "[]".to_owned(),
        }
    }

    fn module() -> ModuleInfo {
        let parameter = |name: &str, default: &str, mandatory| Parameter {
            name: name.to_owned(),
            doc: "of a\nmacro, a|b".to_owned(),
            default: default.to_owned(),
            mandatory,
        };
        ModuleInfo {
            rules: vec![Rule {
                name: "z_rule".to_owned(),
                doc: "A rule.\n".to_owned(),
                attributes: vec![
                    attribute("srcs", "Sources.", false),
                    attribute("src", "A source.", true),
                ],
            }],
            functions: vec![Function {
                name: "a_macro".to_owned(),
                doc: "A macro.".to_owned(),
                parameters: vec![
                    parameter("name", "", true),
                    parameter("of", "None", false),
                    parameter("kwargs", "", false),
                ],
            }],
            providers: vec![Provider {
                name: "SomeInfo".to_owned(),
                doc: "A provider.".to_owned(),
                fields: vec![Field {
                    name: "field".to_owned(),
                    doc: "A field.".to_owned(),
                }],
            }],
            extensions: vec![Extension {
                name: "extension".to_owned(),
                tags: vec![Rule {
                    name: "tag".to_owned(),
                    doc: "A tag.".to_owned(),
                    attributes: vec![attribute("version", "A version.", true)],
                }],
            }],
        }
    }

    #[test]
    fn sections_by_name_and_rows_as_declared() {
        let page = page(&[ModuleInfo::default(), module()]).unwrap();
        let (_, rules) = page
            .split_once("## Rules, of `@rules_offload//rules:defs.bzl`\n")
            .unwrap();
        let wanted = "
### a_macro

A macro.

| attribute | default | what it is |
| --- | --- | --- |
| `name` | required | of a macro, a\\|b |
| `of` | `None` | of a macro, a\\|b |
| `**kwargs` | | of a macro, a\\|b |

### z_rule

A rule.

| attribute | default | what it is |
| --- | --- | --- |
| `srcs` | `[]` | Sources. |
| `src` | required | A source. |

## Tags, of `@rules_offload//toolchains:extensions.bzl`

### extension.tag

A tag.

| attribute | default | what it is |
| --- | --- | --- |
| `version` | required | A version. |

## Providers, of `@rules_offload//rules:defs.bzl`

### SomeInfo

A provider.

| field | what it is |
| --- | --- |
| `field` | A field. |
";
        assert_eq!(rules, wanted);
    }

    #[test]
    fn nothing_is_left_without_a_word() {
        let mut silent = module();
        silent.functions[0].parameters[1].doc = " \n".to_owned();
        assert_eq!(page(&[silent]), Err(Silent("a_macro.of".to_owned())));
        let mut silent = module();
        silent.providers[0].doc.clear();
        assert_eq!(page(&[silent]), Err(Silent("SomeInfo".to_owned())));
        let mut silent = module();
        silent.extensions[0].tags[0].attributes[0].doc.clear();
        assert_eq!(
            page(&[silent]),
            Err(Silent("extension.tag.version".to_owned()))
        );
    }
}
