"""A week at the desk, step by step, as people play it: each step is given a tab and a desk, and raises `Wrong` where the page is not as it
should be. Scripts are off all the while: whatever is essential works without. Used by scripts/test-desk."""
import io
import json
import time
import zipfile

from browser import Wrong

LISTED = "[...document.querySelectorAll('table.list tbody tr')].length"


def expect(is_so, what):
    if not is_so:
        raise Wrong(what)


def body(tab):
    return tab.ask("document.querySelector('main').innerText")


def quiet(tab, desk, expected=()):
    complaints = tab.said(desk.is_own, expected)
    expect(not complaints, "\n".join(complaints))


def job(tab, desk, then):
    """Waits for the job whose page is open, and goes on."""
    expect(tab.address().startswith("/job/"), f"came to {tab.address()}, expected the page of a job")
    tab.wait("the job", lambda: tab.becomes("document.readyState === 'complete' && !document.querySelector('meta[http-equiv=refresh]')"))
    expect("could not be done" not in body(tab), body(tab))
    tab.click("main a.button.main")
    expect(tab.address().startswith(then), f"after the job came {tab.address()}, expected {then}")
    quiet(tab, desk)


def enter(tab, desk):
    tab.go(desk.origin + desk.entrance)
    expect(tab.address() == "/week", f"entered and came to {tab.address()}, expected /week")
    quiet(tab, desk)
    tab.go(desk.origin + desk.entrance)
    expect("has been used" in body(tab), "an address from the terminal opened twice")
    quiet(tab, desk, (403,))


def import_again(tab, desk):
    tab.go(desk.origin + "/data")
    tab.click("form[action='/data/import'] button")
    job(tab, desk, "/data")


def look(tab, desk):
    tab.go(desk.origin + "/week")
    rows = tab.ask(LISTED)
    expect(rows > 10, f"{rows} people on the list, expected more than 10")
    tab.ask("document.querySelector('#f-worker').selectedIndex = 1")
    tab.click(".filter button")
    some = tab.ask(LISTED)
    expect(0 < some < rows, f"{some} people of one caller, expected some of {rows}")
    quiet(tab, desk)


def capacity(tab, desk):
    tab.go(desk.origin + "/week")
    before = tab.ask(LISTED)
    tab.go(desk.origin + "/capacity")
    field = "form[action='/capacity/try'] input[type=number]"
    places = int(tab.ask(f"document.querySelector({json.dumps(field)}).value"))
    tab.write(field, str(places - 4))
    tab.click("form[action='/capacity/try'] button.main")
    job(tab, desk, "/capacity")
    # nothing is decided yet
    tab.go(desk.origin + "/week")
    expect(tab.ask(LISTED) == before, "a look at other numbers has changed the list")
    tab.go(desk.origin + "/capacity")
    tab.click("form[action='/capacity/set'] button.main")
    if tab.address().startswith("/job/"):
        job(tab, desk, "/")
    tab.go(desk.origin + "/week")
    after = tab.ask(LISTED)
    expect(0 < after <= places - 4, f"{after} people on the list, expected at most {places - 4}")
    quiet(tab, desk)


def leave_out(tab, desk):
    tab.go(desk.origin + "/week")
    listed = "[...document.querySelectorAll('.edit a')].map(a => new URL(a.href).searchParams.get('id'))"
    first = tab.ask(listed)[0]
    tab.click(".edit a[href*='do=out']")
    tab.click("main form button.main")
    expect("Say why" in body(tab), "somebody was left out without a reason")
    quiet(tab, desk, (422,))
    tab.write("#why", "was called on Sunday")
    tab.click("main form button.main")
    expect(first not in tab.ask(listed), f"{first} is still on the list")
    expect("was called on Sunday" in body(tab), "the page does not tell the reason")
    tab.click(".edit a[href*='do=up']")
    tab.write("#why", "asked for a call")
    tab.click("main form button.main")
    quiet(tab, desk)


def finalise(tab, desk):
    tab.go(desk.origin + "/week")
    tab.press("form[action='/week/final'] .check input")
    tab.click("form[action='/week/final'] button")
    expect(tab.ask("!!document.querySelector('.tag.good')"), "the list is not final")
    expect(not tab.ask("document.querySelectorAll('.edit a').length"), "a final list can be changed")
    quiet(tab, desk)


def download(tab, desk, folder, path, link, ending):
    tab.go(desk.origin + path)
    tab.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True)
    tab.press(link)
    whole = lambda: [file for file in folder.iterdir() if file.suffix == ending and file.stat().st_size]
    tab.wait(f"a file {ending}", whole)
    with zipfile.ZipFile(io.BytesIO(whole()[0].read_bytes())) as book:
        expect(book.testzip() is None, f"{whole()[0].name} is broken")
        quiet(tab, desk)
        return book.namelist()


def excel(tab, desk, folder):
    names = download(tab, desk, folder, "/week", "a.button[href^='/week/list.xlsx']", ".xlsx")
    sheets = [name for name in names if name.startswith("xl/worksheets/sheet")]
    expect(len(sheets) >= 3, f"the workbook has {len(sheets)} sheets, expected one for each caller")


def archive(tab, desk, folder):
    names = download(tab, desk, folder, "/record", "a[href$='archive.zip']", ".zip")
    expect(len(names) >= 3, f"the archive of a week has {names}")


def outcomes(tab, desk):
    """Ten outcomes on a phone, one of them taken back."""
    tab.view(380, "light")
    tab.go(desk.origin + "/outcomes")
    left = lambda: tab.ask("(p => p.max - p.value)(document.querySelector('.todo progress'))")
    settle = lambda: time.sleep(0.9)  # buttons wait for a moment after an outcome
    before = left()
    for k, code in enumerate(["reached", "no_answer", "reached", "refused", "later", "reached", "wrong_number", "moved", "reached", "reached"]):
        if k == 1:
            # the second click of a double click is not for the next person
            told = left()
            tab.press(".codes button[value=reached]")
            time.sleep(0.3)
            expect(left() == told, "a double click told of two people")
        if k == 3:
            tab.write("#note", "asked about the clinic")
        settle()
        tab.click(f".codes button[value={code}]")
        expect(tab.address().startswith("/outcomes"), f"told an outcome and came to {tab.address()}")
        if k == 4:
            told = left()
            tab.click("form[action='/outcomes/undo'] button")
            expect(left() == told + 1, "what was taken back still counts")
            settle()
            tab.click(f".codes button[value={code}]")
        quiet(tab, desk)
    # whoever did not answer, or asked for another time, may be called again
    expect(before - left() in (8, 9, 10), f"{before} were left, now {left()}, after ten outcomes")
    tab.view(1280, "light")


def verify(tab, desk):
    tab.go(desk.origin + "/record")
    tab.click("form[action='/record/verify'] button")
    job(tab, desk, "/record")
    said = tab.ask("document.querySelector('#verify ~ .notice').innerText")
    expect(tab.ask("!document.querySelector('#verify ~ .notice.bad')"), said)
    tab.click("a[href^='/record/20']")
    expect("was called on Sunday" in body(tab), "the record does not tell the reason")
    quiet(tab, desk)


def background(tab, desk):
    """Doctor, judge and fairness: each a job whose page can be left and come back to."""
    for path, form, then in [("/data", "/data/doctor", "/data"), ("/evidence", "/evidence/judge", "/evidence"),
                             ("/fairness", "/fairness", "/fairness")]:
        tab.go(desk.origin + path)
        tab.click(f"form[action='{form}'] button")
        if tab.address().startswith("/job/"):
            job(tab, desk, then)
        quiet(tab, desk)


def find(tab, desk):
    """From an id to a person's page; her id."""
    tab.go(desk.origin + "/person")
    tab.write("#id", "MB-00012")
    tab.click("main form button.main")
    expect("MB-00012" in body(tab), f"looked for MB-00012 and came to {tab.address()}")
    quiet(tab, desk)


WEEK = [
    ("import again", import_again),
    ("look at the list, by caller", look),
    ("change the capacity", capacity),
    ("leave somebody out, with a reason", leave_out),
    ("finalise", finalise),
]
