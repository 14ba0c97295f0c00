//! Typed values as text.
//!
//! Whole numbers have no decimal point, so that a telephone number that a spreadsheet keeps as a number comes out as it
//! was typed. Dates are ISO: `2026-03-05`, `2026-03-05 14:30:00`, and where the time zone is known `2026-03-05T14:30:00Z`.
//! What is missing is empty: nulls, and numbers that are none. An error of a spreadsheet is its name, such as `#N/A`.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};
use calamine::{DataRef, ExcelDateTime};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt::{Display, Write};

/// Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($words:tt)+) => {{ let _ = write!($out, $($words)+); }};
}

/// Writes a cell of a sheet.
pub(super) fn sheet_text(value: &DataRef<'_>, out: &mut String) {
    match value {
        DataRef::Int(number) => put!(out, "{number}"),
        DataRef::Float(number) => float(*number, out),
        DataRef::String(text) => out.push_str(text),
        DataRef::SharedString(text) => out.push_str(text),
        DataRef::Bool(yes) => put!(out, "{yes}"),
        DataRef::DateTime(time) => sheet_time(time, out),
        DataRef::DateTimeIso(text) => match text.split_once('T') {
            Some((day, "00:00:00" | "00:00:00.000")) => out.push_str(day),
            Some((day, time)) => put!(out, "{day} {time}"),
            None => out.push_str(text),
        },
        DataRef::DurationIso(text) => out.push_str(text),
        DataRef::Error(error) => put!(out, "{error}"),
        DataRef::Empty => {}
    }
}

fn sheet_time(time: &ExcelDateTime, out: &mut String) {
    let days = time.as_f64();
    if time.is_duration() || (0.0..1.0).contains(&days) {
        let milliseconds = (days * 86_400_000.0).round();
        if !(0.0..1e15).contains(&milliseconds) {
            return float(days, out);
        }
        return clock(milliseconds as u64 / 1000, (milliseconds as u64 % 1000) as u32 * 1_000_000, out);
    }
    let (year, month, day, hour, minute, second, millisecond) = time.to_ymd_hms_milli();
    put!(out, "{year:04}-{month:02}-{day:02}");
    if (hour, minute, second, millisecond) != (0, 0, 0, 0) {
        out.push(' ');
        let seconds = u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second);
        clock(seconds, u32::from(millisecond) * 1_000_000, out);
    }
}

/// Whether a column of this type has text.
pub(super) fn has_text(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Dictionary(_, values) => has_text(values) && !matches!(**values, Dictionary(..)),
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View => true,
        Float16 | Float32 | Float64 | Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) => true,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => true,
        other => other.is_integer(),
    }
}

/// Writes a cell of a column that has text; of a dictionary, its values are given instead.
pub(super) fn column_text(column: &dyn Array, row: usize, out: &mut String) {
    use DataType::*;
    if column.is_null(row) {
        return;
    }
    fn number<T: ArrowPrimitiveType<Native: Display>>(column: &dyn Array, row: usize, out: &mut String) {
        put!(out, "{}", column.as_primitive::<T>().value(row));
    }
    fn ticks<T: ArrowPrimitiveType<Native: Into<i64>>>(column: &dyn Array, row: usize) -> i64 {
        column.as_primitive::<T>().value(row).into()
    }
    match column.data_type() {
        Utf8 => out.push_str(column.as_string::<i32>().value(row)),
        LargeUtf8 => out.push_str(column.as_string::<i64>().value(row)),
        Utf8View => out.push_str(column.as_string_view().value(row)),
        Boolean => put!(out, "{}", column.as_boolean().value(row)),
        Int8 => number::<Int8Type>(column, row, out),
        Int16 => number::<Int16Type>(column, row, out),
        Int32 => number::<Int32Type>(column, row, out),
        Int64 => number::<Int64Type>(column, row, out),
        UInt8 => number::<UInt8Type>(column, row, out),
        UInt16 => number::<UInt16Type>(column, row, out),
        UInt32 => number::<UInt32Type>(column, row, out),
        UInt64 => number::<UInt64Type>(column, row, out),
        Float16 => single(column.as_primitive::<Float16Type>().value(row).to_f32(), out),
        Float32 => single(column.as_primitive::<Float32Type>().value(row), out),
        Float64 => float(column.as_primitive::<Float64Type>().value(row), out),
        Decimal32(..) => out.push_str(&column.as_primitive::<Decimal32Type>().value_as_string(row)),
        Decimal64(..) => out.push_str(&column.as_primitive::<Decimal64Type>().value_as_string(row)),
        Decimal128(..) => out.push_str(&column.as_primitive::<Decimal128Type>().value_as_string(row)),
        Decimal256(..) => out.push_str(&column.as_primitive::<Decimal256Type>().value_as_string(row)),
        Date32 => day(ticks::<Date32Type>(column, row).saturating_mul(86_400), out),
        Date64 => day(ticks::<Date64Type>(column, row).div_euclid(1000), out),
        Time32(TimeUnit::Second) => time_of_day(ticks::<Time32SecondType>(column, row), 1, out),
        Time32(_) => time_of_day(ticks::<Time32MillisecondType>(column, row), 1000, out),
        Time64(TimeUnit::Microsecond) => {
            time_of_day(ticks::<Time64MicrosecondType>(column, row), 1_000_000, out)
        }
        Time64(_) => time_of_day(ticks::<Time64NanosecondType>(column, row), 1_000_000_000, out),
        Timestamp(unit, zone) => {
            let (ticks, per_second) = match unit {
                TimeUnit::Second => (ticks::<TimestampSecondType>(column, row), 1),
                TimeUnit::Millisecond => (ticks::<TimestampMillisecondType>(column, row), 1000),
                TimeUnit::Microsecond => (ticks::<TimestampMicrosecondType>(column, row), 1_000_000),
                TimeUnit::Nanosecond => (ticks::<TimestampNanosecondType>(column, row), 1_000_000_000),
            };
            moment(ticks, per_second, zone.is_some(), out);
        }
        _ => {}
    }
}

fn float(number: f64, out: &mut String) {
    if !number.is_nan() {
        // minus nothing is nothing
        put!(out, "{}", number + 0.0);
    }
}

fn single(number: f32, out: &mut String) {
    if !number.is_nan() {
        put!(out, "{}", number + 0.0);
    }
}

/// Ticks since 1970; those that no calendar has stay a number.
fn moment(ticks: i64, per_second: i64, is_utc: bool, out: &mut String) {
    let nanoseconds = ticks.rem_euclid(per_second) * (1_000_000_000 / per_second);
    let Ok(time) = Timestamp::new(ticks.div_euclid(per_second), nanoseconds as i32) else {
        return put!(out, "{ticks}");
    };
    let civil = time.to_zoned(TimeZone::UTC).datetime();
    put!(out, "{}{}", civil.date(), if is_utc { 'T' } else { ' ' });
    let time = civil.time();
    let seconds = time.hour() as u64 * 3600 + time.minute() as u64 * 60 + time.second() as u64;
    clock(seconds, time.subsec_nanosecond() as u32, out);
    if is_utc {
        out.push('Z');
    }
}

fn day(seconds: i64, out: &mut String) {
    match Timestamp::from_second(seconds) {
        Ok(time) => put!(out, "{}", time.to_zoned(TimeZone::UTC).date()),
        Err(_) => put!(out, "{}", seconds.div_euclid(86_400)),
    }
}

fn time_of_day(ticks: i64, per_second: i64, out: &mut String) {
    let nanoseconds = ticks.rem_euclid(per_second) * (1_000_000_000 / per_second);
    clock(ticks.div_euclid(per_second).max(0) as u64, nanoseconds as u32, out);
}

/// Hours, minutes, seconds, and as many digits of a fraction as there are.
fn clock(seconds: u64, nanoseconds: u32, out: &mut String) {
    put!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match nanoseconds {
        0 => {}
        n if n % 1_000_000 == 0 => put!(out, ".{:03}", n / 1_000_000),
        n if n % 1000 == 0 => put!(out, ".{:06}", n / 1000),
        n => put!(out, ".{n:09}"),
    }
}
