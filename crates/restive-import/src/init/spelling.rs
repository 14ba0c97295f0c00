//! Spellings of one word: `primary`, `Primary school`, `prim.`, `primry`.
//!
//! Two words are taken for one where they are the same but for capitals, spaces and signs; where one begins with the other, as an
//! abbreviation does; or where one or two letters are wrong. It is a suggestion: a person decides.

/// Groups of words that may be one, the shortest that is no abbreviation first.
pub(super) fn alike<'a>(words: &[&'a String]) -> Vec<Vec<&'a String>> {
    let mut groups: Vec<Vec<&String>> = Vec::new();
    let mut sorted: Vec<&&String> = words.iter().collect();
    sorted.sort_by_key(|word| (word.ends_with('.'), word.chars().count(), **word));
    for word in sorted {
        let own = skeleton(word);
        match groups.iter_mut().find(|group| group.iter().any(|other| is_near(&own, &skeleton(other)))) {
            Some(group) => group.push(word),
            None => groups.push(vec![word]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Small letters and digits alone.
fn skeleton(word: &str) -> Vec<char> {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_near(a: &[char], b: &[char]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short == long {
        return true;
    }
    // `5` and `50`, `grade 1` and `grade 11` are not one
    if a.iter().chain(b).any(char::is_ascii_digit) || short.len() < 3 {
        return false;
    }
    if long.starts_with(short) && short.len() >= 4 {
        return true;
    }
    let wrong = distance(short, long);
    long.len() >= 5 && wrong <= 1 || long.len() >= 8 && wrong <= 2
}

/// Letters to put in, take out or exchange.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let kept = row[j + 1];
            row[j + 1] = (before + usize::from(x != y)).min(row[j] + 1).min(kept + 1);
            before = kept;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_are_found_and_others_are_not() {
        let words =
            ["Primary", "primary school", "prim.", "Primry", "secondary", "none", "grade 1", "grade 11"];
        let words: Vec<String> = words.map(String::from).to_vec();
        let groups = alike(&words.iter().collect::<Vec<_>>());
        assert_eq!(
            groups,
            [["Primry", "Primary", "primary school", "prim."].map(String::from).iter().collect::<Vec<_>>()]
        );
        assert_eq!(distance(&['a', 'b'], &['b']), 1);
    }
}
