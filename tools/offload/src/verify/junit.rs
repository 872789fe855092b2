//! The outcome as JUnit's XML, which CI systems show: a test case for each file, and one for what is
//! asked of all of them together.

use std::io::{self, Write};

use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use quick_xml::Writer;

use super::breach::Breach;
use super::verdict::{Excepted, Verdict, Verified};

/// The name of the case for all files together.
const ALL: &str = "all files";

struct Case<'a> {
    name: &'a str,
    failures: Vec<&'a Breach>,
    errors: Vec<&'a String>,
    out: Vec<String>,
}

pub fn write(verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
    let cases = cases(verdict);
    let failures: usize = cases.iter().map(|case| case.failures.len()).sum();
    let errors: usize = cases.iter().map(|case| case.errors.len()).sum();
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut suite = BytesStart::new("testsuite");
    suite.push_attribute(("name", "offload verify"));
    for (key, number) in [
        ("tests", cases.len()),
        ("failures", failures),
        ("errors", errors),
    ] {
        suite.push_attribute((key, number.to_string().as_str()));
    }
    xml.write_event(Event::Start(BytesStart::new("testsuites")))?;
    xml.write_event(Event::Start(suite))?;
    for case in &cases {
        write_case(case, &mut xml)?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    writeln!(xml.into_inner())
}

fn cases(verdict: &Verdict) -> Vec<Case<'_>> {
    let of = |path: Option<&str>| {
        let breaches = verdict.breaches.iter();
        breaches.filter(|b| b.path.as_deref() == path).collect()
    };
    let mut cases: Vec<Case<'_>> = verdict
        .files
        .iter()
        .map(|file| Case {
            name: &file.path,
            failures: of(Some(&file.path)),
            errors: file.problems.iter().collect(),
            out: verdict
                .exceptions
                .iter()
                .filter(|used| is_of(used, file))
                .map(|used| format!("exception for {used}"))
                .collect(),
        })
        .collect();
    cases.push(Case {
        name: ALL,
        failures: of(None),
        errors: verdict.faults.iter().collect(),
        out: verdict.notes.clone(),
    });
    cases
}

/// Whether what came under an exception is the file or a member of it.
fn is_of(used: &Excepted, file: &Verified) -> bool {
    let below = used.path.strip_prefix(&file.path);
    below.is_some_and(|member| member.is_empty() || member.starts_with('/'))
}

fn write_case(case: &Case<'_>, xml: &mut Writer<&mut dyn Write>) -> io::Result<()> {
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("classname", "offload.verify"));
    start.push_attribute(("name", legal(case.name).as_str()));
    xml.write_event(Event::Start(start))?;
    for breach in &case.failures {
        let (what, kind) = (&breach.complaint.what, breach.rule.name());
        write_element(
            xml,
            "failure",
            &[("type", kind), ("message", what)],
            &breach.complaint.to_string(),
        )?;
    }
    for error in &case.errors {
        write_element(
            xml,
            "error",
            &[("type", "unreadable"), ("message", error)],
            error,
        )?;
    }
    if !case.out.is_empty() {
        write_element(xml, "system-out", &[], &case.out.join("\n"))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

fn write_element(
    xml: &mut Writer<&mut dyn Write>,
    name: &str,
    attributes: &[(&str, &str)],
    text: &str,
) -> io::Result<()> {
    let mut start = BytesStart::new(name);
    for (key, value) in attributes {
        start.push_attribute((*key, legal(value).as_str()));
    }
    xml.write_event(Event::Start(start))?;
    xml.write_event(Event::Text(BytesText::new(&legal(text))))?;
    xml.write_event(Event::End(BytesEnd::new(name)))
}

/// XML has no way to write most control characters, nor two that are none, escaped or not.
fn legal(text: &str) -> String {
    let keep = |c: &char| match c {
        '\n' | '\t' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    };
    text.chars().filter(keep).collect()
}
