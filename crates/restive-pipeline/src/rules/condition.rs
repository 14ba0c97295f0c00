//! Conditions on people: `last_seen >= 8 and not (language = 'Marathi' or village is missing)`.
//!
//! ```text
//! condition  = all { "or" all }          all = one { "and" one }
//! one        = "not" one | "(" condition ")" | column test
//! test       = ("=" | "!=" | "<" | "<=" | ">" | ">=") value | "in" "(" value { "," value } ")" | "is" ["not"] "missing"
//! column     = a name, or any text in double quotation marks          value = a number, or text in single ones
//! ```
//!
//! A value that is missing satisfies no comparison, `!=` included: what is not known decides nothing, and `is missing` asks for it.
//! Numbers are compared as numbers; text that is no number is never below or above anything. Keywords may be in capitals.

use std::fmt;

/// A condition on one person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Compared { column: String, sign: Sign, value: Value },
    Among { column: String, values: Vec<Value> },
    Missing { column: String },
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// What is known of a person in a column, or what it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
    Missing,
}

impl Value {
    /// Of a cell of text: a number where it is one.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.trim();
        match text.parse::<f64>() {
            _ if text.is_empty() => Value::Missing,
            Ok(number) if number.is_finite() => Value::Number(number),
            _ => Value::Text(text.into()),
        }
    }

    fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => a.partial_cmp(b),
            _ => None,
        }
    }

    fn is(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Value::Missing, _) | (_, Value::Missing) => None,
            (Value::Number(a), Value::Number(b)) => Some(a == b),
            (Value::Text(a), Value::Text(b)) => Some(a == b),
            // text that looks like a number is one wherever it comes from
            _ => Some(false),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(x) => write!(f, "{x}"),
            Value::Text(text) => f.write_str(text),
            Value::Missing => Ok(()),
        }
    }
}

impl Condition {
    /// Reads a condition; an error says what is wrong, and at which byte.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut reader = Reader { text, tokens: tokens(text)?, at: 0 };
        let read = reader.any()?;
        match reader.peek() {
            Token::End => Ok(read),
            other => Err(reader.fault(other, "and, or, or the end")),
        }
    }

    /// Whether it holds for a person of whom `known` says what stands in a column.
    pub(crate) fn holds(&self, known: &impl Fn(&str) -> Value) -> bool {
        match self {
            Condition::Any(parts) => parts.iter().any(|part| part.holds(known)),
            Condition::All(parts) => parts.iter().all(|part| part.holds(known)),
            Condition::Not(part) => !part.holds(known),
            Condition::Missing { column } => known(column) == Value::Missing,
            Condition::Among { column, values } => {
                let found = known(column);
                values.iter().any(|value| found.is(value) == Some(true))
            }
            Condition::Compared { column, sign, value } => {
                let found = known(column);
                let order = found.compare(value);
                match sign {
                    Sign::Equal => found.is(value) == Some(true),
                    Sign::Unequal => found.is(value) == Some(false),
                    Sign::Below => order.is_some_and(|order| order.is_lt()),
                    Sign::AtMost => order.is_some_and(|order| order.is_le()),
                    Sign::Above => order.is_some_and(|order| order.is_gt()),
                    Sign::AtLeast => order.is_some_and(|order| order.is_ge()),
                }
            }
        }
    }

    /// Number of comparisons and listed values.
    pub(crate) fn values(&self) -> usize {
        match self {
            Condition::Any(parts) | Condition::All(parts) => parts.iter().map(Self::values).sum(),
            Condition::Not(part) => part.values(),
            Condition::Among { values, .. } => values.len(),
            Condition::Compared { .. } | Condition::Missing { .. } => 1,
        }
    }

    /// The columns that it looks at.
    pub(crate) fn columns(&self) -> Vec<&str> {
        match self {
            Condition::Any(parts) | Condition::All(parts) => parts.iter().flat_map(Self::columns).collect(),
            Condition::Not(part) => part.columns(),
            Condition::Compared { column, .. }
            | Condition::Among { column, .. }
            | Condition::Missing { column } => vec![column],
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Number(f64),
    Text(String),
    Sign(Sign),
    Open,
    Close,
    Comma,
    End,
}

/// The most conditions within each other: a reader that calls itself must not run out of stack.
const DEEPEST: usize = 100;

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, (usize, String)> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some(&(at, c)) = rest.peek() {
        let mut one = |token| {
            rest.next();
            token
        };
        let token = match c {
            _ if c.is_whitespace() => {
                rest.next();
                continue;
            }
            '(' => one(Token::Open),
            ')' => one(Token::Close),
            ',' => one(Token::Comma),
            '\'' | '"' => {
                rest.next();
                let inner = &text[at + 1..];
                let Some(end) = inner.find(c) else {
                    return Err((at, format!("found {c} without another one, expected text between two")));
                };
                while rest.peek().is_some_and(|(k, _)| *k <= at + 1 + end) {
                    rest.next();
                }
                let inner = inner[..end].to_string();
                if c == '"' { Token::Quoted(inner) } else { Token::Text(inner) }
            }
            '=' => one(Token::Sign(Sign::Equal)),
            '<' | '>' | '!' => {
                rest.next();
                let is_or_equal = rest.next_if(|(_, next)| *next == '=').is_some();
                Token::Sign(match (c, is_or_equal) {
                    ('<', false) => Sign::Below,
                    ('<', true) => Sign::AtMost,
                    ('>', false) => Sign::Above,
                    ('>', true) => Sign::AtLeast,
                    (_, true) => Sign::Unequal,
                    _ => return Err((at, "found !, expected != or not".into())),
                })
            }
            _ if c.is_ascii_digit() || c == '-' || c == '.' || c == '+' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
                let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |k| at + k);
                while rest.peek().is_some_and(|(k, _)| *k < end) {
                    rest.next();
                }
                let word = &text[at..end];
                match word.parse::<f64>() {
                    Ok(number) if number.is_finite() => Token::Number(number),
                    _ => {
                        return Err((at, format!("found {word}, expected a number, or text as in 'text'")));
                    }
                }
            }
            _ if c.is_alphabetic() || c == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || "_.-".contains(c);
                let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |k| at + k);
                while rest.peek().is_some_and(|(k, _)| *k < end) {
                    rest.next();
                }
                Token::Word(text[at..end].into())
            }
            _ => return Err((at, format!("found {c:?}, expected a column, a value or a comparison"))),
        };
        found.push((at, token));
    }
    Ok(found)
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Token {
        self.tokens.get(self.at).map_or(Token::End, |(_, token)| token.clone())
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |(at, _)| *at)
    }

    fn fault(&self, found: Token, expected: &str) -> (usize, String) {
        let found = match found {
            Token::End => "the end".into(),
            Token::Word(word) | Token::Quoted(word) => word,
            Token::Text(text) => format!("'{text}'"),
            Token::Number(x) => x.to_string(),
            Token::Sign(_) => "a comparison".into(),
            Token::Open => "(".into(),
            Token::Close => ")".into(),
            Token::Comma => ",".into(),
        };
        (self.place(), format!("found {found}, expected {expected}"))
    }

    fn keyword(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(found) if found.eq_ignore_ascii_case(word));
        self.at += usize::from(is);
        is
    }

    fn any(&mut self) -> Result<Condition, (usize, String)> {
        self.any_within(0)
    }

    fn any_within(&mut self, depth: usize) -> Result<Condition, (usize, String)> {
        if depth > DEEPEST {
            return Err((self.place(), format!("found more than {DEEPEST} conditions within each other")));
        }
        let mut parts = vec![self.all(depth)?];
        while self.keyword("or") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> Result<Condition, (usize, String)> {
        let mut parts = vec![self.one(depth)?];
        while self.keyword("and") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn one(&mut self, depth: usize) -> Result<Condition, (usize, String)> {
        if depth > DEEPEST {
            return Err((self.place(), format!("found more than {DEEPEST} conditions within each other")));
        }
        if self.keyword("not") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        match self.peek() {
            Token::Open => {
                self.at += 1;
                let inner = self.any_within(depth + 1)?;
                self.need(Token::Close, ")")?;
                Ok(inner)
            }
            Token::Word(column) | Token::Quoted(column) => {
                self.at += 1;
                self.test(column)
            }
            other => Err(self.fault(other, "a column, not or (")),
        }
    }

    fn need(&mut self, token: Token, expected: &str) -> Result<(), (usize, String)> {
        match self.peek() {
            found if found == token => {
                self.at += 1;
                Ok(())
            }
            found => Err(self.fault(found, expected)),
        }
    }

    fn value(&mut self) -> Result<Value, (usize, String)> {
        let value = match self.peek() {
            Token::Number(x) => Value::Number(x),
            Token::Text(text) => Value::of(&text),
            found => return Err(self.fault(found, "a number, or text as in 'text'")),
        };
        self.at += 1;
        Ok(value)
    }

    fn test(&mut self, column: String) -> Result<Condition, (usize, String)> {
        if self.keyword("is") {
            let is_not = self.keyword("not");
            if !self.keyword("missing") {
                return Err(self.fault(self.peek(), "missing, as in: column is missing"));
            }
            let missing = Condition::Missing { column };
            return Ok(if is_not { Condition::Not(Box::new(missing)) } else { missing });
        }
        if self.keyword("in") {
            self.need(Token::Open, "( and values")?;
            let mut values = vec![self.value()?];
            while self.peek() == Token::Comma {
                self.at += 1;
                values.push(self.value()?);
            }
            self.need(Token::Close, ")")?;
            return Ok(Condition::Among { column, values });
        }
        match self.peek() {
            Token::Sign(sign) => {
                self.at += 1;
                Ok(Condition::Compared { column, sign, value: self.value()? })
            }
            found => Err(self.fault(found, "=, !=, <, <=, >, >=, in (…) or is missing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(column: &str) -> Value {
        match column {
            "age" => Value::Number(31.0),
            "language" => Value::Text("Marathi".into()),
            "last seen" => Value::Number(9.0),
            "code" => Value::of("007"),
            _ => Value::Missing,
        }
    }

    fn holds(text: &str) -> bool {
        Condition::parse(text).unwrap().holds(&known)
    }

    #[test]
    fn comparisons_hold_or_not() {
        for (text, expected) in [
            ("age >= 31", true),
            ("age > 31", false),
            ("age < 31.5 and language = 'Marathi'", true),
            ("language != 'Hindi'", true),
            ("language in ('Hindi', 'Marathi')", true),
            ("not language in ('Hindi')", true),
            ("NOT (age = 31 OR age = 32)", false),
            ("\"last seen\" >= 8", true),
            ("village is missing", true),
            ("village is not missing", false),
            ("code = 7", true),
            ("code = '007'", true),
            ("age = 1 or age = 31 and language = 'Hindi'", false),
            ("age = 31 or age = 1 and language = 'Hindi'", true),
            ("age > -1e3", true),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_missing_satisfies_no_comparison() {
        for sign in ["=", "!=", "<", "<=", ">", ">="] {
            assert!(!holds(&format!("village {sign} 3")), "{sign}");
            assert!(!holds(&format!("village {sign} 'x'")), "{sign}");
        }
        assert!(!holds("language < 3"));
        assert!(!holds("village in (1, 2)"));
    }

    #[test]
    fn faults_have_a_place_and_say_what_was_expected() {
        for (text, at, part) in [
            ("", 0, "found the end, expected a column"),
            ("age", 3, "found the end, expected ="),
            ("age >= ", 7, "found the end, expected a number"),
            ("age >= x", 7, "found x, expected a number"),
            ("age = 3 5", 8, "found 5, expected and, or"),
            ("(age = 3", 8, "expected )"),
            ("age = 'x", 6, "without another one"),
            ("age ! 3", 4, "expected !="),
            ("age = 3 and", 11, "expected a column"),
            ("age is nothing", 7, "expected missing"),
            ("age = 3a", 6, "found 3a"),
            ("age # 3", 4, "found '#'"),
        ] {
            let (found, said) = Condition::parse(text).unwrap_err();
            assert_eq!(found, at, "{text}: {said}");
            assert!(said.contains(part), "{text}: {said}");
        }
        assert!(Condition::parse(&"(".repeat(100_000)).is_err());
        assert!(Condition::parse(&"not ".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ a-z0-9'\"()<>=!,.é-]{0,40}") {
            if let Ok(condition) = Condition::parse(&text) {
                condition.holds(&known);
                condition.columns();
            }
        }
    }
}
