//! A programme's week: import, model, this week's list under its rules with a reason for every name, and the outcomes that close the loop.
