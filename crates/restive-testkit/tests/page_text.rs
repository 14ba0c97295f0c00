//! Text of HTML pages.

use restive_testkit::page_text::page_snapshot;
use restive_testkit::{Masks, page_text, wrapped};

fn assert_text(html: &str, expected: &[&str]) {
    assert_eq!(page_text(html), expected.join("\n") + "\n", "{html}");
}

#[test]
fn headings_paragraphs_and_lists_are_lines() {
    let html = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>A &#38; B</title><style>p > a { color: red }</style>\
        <script>if (a < b) { c = \"</p>\" }</script></head><body><!-- <p>not shown</p> -->\n<h1>First\n  heading</h1>\
        <p class='x>y'>One <em>two</em>\n three&nbsp;&lt;4&gt;</p><ul><li><p>a</p></li><li>b</li></ul><H2>Second</H2>\
        <p aria-hidden=\"true\">x <p>y</p></p><dl><div><dt>people</dt> <dd>12</dd></div></dl>Rest<br>more</body></html>";
    assert_text(
        html,
        &[
            "title: A & B",
            "",
            "# First heading",
            "One two three <4>",
            "- a",
            "- b",
            "",
            "## Second",
            "people: 12",
            "Rest",
            "more",
        ],
    );
}

#[test]
fn rows_of_a_table_are_lines_with_separated_cells() {
    let html = "<p>before</p><table><caption>People</caption><thead><tr><th>id</th><th>name</th></tr></thead><tbody>\n\
        <tr><th scope=row>p1</th><td><p>A</p><p>B</p></td></tr>\n<tr><td></td><td>C <em>D</em></td></tr></tbody></table><p>after</p>";
    assert_text(html, &["before", "", "People", "id | name", "p1 | A B", " | C D", "", "after"]);
}

#[test]
fn forms_show_their_fields_and_buttons() {
    let html = "<form aria-label=\"Search\"><input type=hidden name=h value=secret><label for=a>Name</label> <input id=a value='x &quot;y&quot;' required>\
        <p class=hint>hint</p><input type=password aria-label=Word><input type=range hidden>\
        <p><input type=checkbox checked> <label>yes</label> <input type=checkbox> <label>no</label></p>\
        <select><option value=1>any</option><optgroup label=group><option selected>one</option><option>two</option></optgroup></select>\
        <textarea>a\n<b></textarea><p><button class=main><strong>Send</strong><span>now</span></button> <a href=\"/x\" aria-label=\"Back to x\">Back </a></p></form>";
    assert_text(
        html,
        &[
            "(Search)",
            "Name {x \"y\"}",
            "hint",
            "{Word: *}",
            "[x] yes [ ] no",
            "{any | group: *one* | two} {a <b>}",
            "[[Send now]] [Back to x: Back]",
        ],
    );
}

#[test]
fn pictures_show_their_words_once() {
    let picture = |class| {
        format!(
            "<svg class=\"{class}\" aria-label=\"Calls\"><desc>Calls by week.</desc><g><text x=\"1\">week</text><text>10</text></g></svg>"
        )
    };
    let html = format!(
        "<figure>{}{}</figure><svg aria-hidden=\"true\"><text>a</text></svg><p><svg aria-label=\"30 %\"><line/></svg><span>b</span></p>",
        picture("wide"),
        picture("narrow")
    );
    assert_text(&html, &["(picture: Calls; Calls by week.; week)", "(picture: 30 %) b"]);
}

#[test]
fn preformatted_lines_are_kept_and_long_lines_continue() {
    assert_text("<pre><code>budget = 5\n  a =  1</code></pre><p>b</p>", &["budget = 5", "  a =  1", "b"]);
    assert_eq!(wrapped("one two three\nfour\n\nabcdefghijk", 8), "one two\n  three\nfour\n\nabcdefghijk\n");
    let page = format!("<p>{}</p><p>2 of 240 people</p>", "word ".repeat(17));
    let expected = format!("{}\n  word\n2 of 24# people\n", ["word"; 16].join(" "));
    assert_eq!(page_snapshot(&page, &Masks::new()), expected);
}

#[test]
fn any_input_returns_a_text() {
    let page = "<p a='b\">x</p><!-- <td>y</td></tr><li><h2></h2><select><option>&#xD800;&#99999999999;&x;</p><svg><text></svg>\
        <title></tr><a></button></dt><input type='checkbox'/><script>é<pre>\n\u{0}";
    let ends: Vec<usize> = page.char_indices().map(|(at, _)| at).collect();
    for start in &ends {
        for end in ends.iter().filter(|end| start <= end) {
            assert!(page_text(&page[*start..*end]).ends_with('\n'));
        }
    }
    assert_text("a < b & c > d &x; &#xD800; <3", &["a < b & c > d &x; &#xD800; <3"]);
}
