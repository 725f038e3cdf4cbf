package table

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/bounded"
	"pgregory.net/rapid"
)

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "+5": 5, ".5": .5, "5.": 5, "1e3": 1000, "1E+3": 1000, "1e-3": .001, "123456789012345678901234567890": 123456789012345678901234567890,
		"inf": math.Inf(1), "-INF": math.Inf(-1), "+Infinity": math.Inf(1), "1e400": math.Inf(1), "-1e400": math.Inf(-1), "1e-400": 0, "9007199254740993": 9007199254740992,
		"0.000000000000000000000000000001": 1e-30, "1e99999999999999999999": math.Inf(1), "1e-99999999999999999999": 0,
	} {
		got, ok := parseNumber([]byte(text))
		if !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q is %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", "+", ".", "e5", "1e", "1e+", "1x", " 1", "1 ", "0x10", "1_000", "1,5", "nan", "infinit", "--1", "1.2.3", "١"} {
		if x, ok := parseNumber([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, x)
		}
	}
}

// Every float64, written in any way, reads back to itself, bit by bit.
func TestNumbersReadBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := math.Float64frombits(rapid.Uint64().Draw(r, "bits"))
		if rapid.Bool().Draw(r, "short") {
			x = math.Round(x*1000) / 1000
		}
		if IsMissing(x) {
			return
		}
		format := rapid.SampledFrom([]byte("gfe")).Draw(r, "format")
		got, ok := parseNumber(strconv.AppendFloat(nil, x, format, -1, 64))
		if !ok || math.Float64bits(got) != math.Float64bits(x) {
			r.Fatalf("%v is read as %v", x, got)
		}
		if got, ok := parseNumber([]byte(numberText(x))); !ok || got != x {
			r.Fatalf("%v is written as %s", x, numberText(x))
		}
	})
}

// FuzzNumber agrees with strconv wherever both have the same grammar.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1", "-1.5e3", "1e999", "inf", ".", "00012", "1.7976931348623157e308", "179769313486231570000e289"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		got, ok := parseNumber([]byte(text))
		want, err := strconv.ParseFloat(text, 64)
		valid := err == nil || err.(*strconv.NumError).Err == strconv.ErrRange
		if strings.ContainsAny(text, "_xXpP") || want != want {
			valid = false
		}
		if ok != valid || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q is %v %v, strconv says %v %v", text, got, ok, want, err)
		}
	})
}

func TestParseDate(t *testing.T) {
	for text, want := range map[string]float64{
		"1970-01-01": 0, "1970-01-02": 1, "1969-12-31": -1, "2024-02-29": 19782, "2000-02-29": 11016, "0000-01-01": firstDay, "9999-12-31": lastDay - 1,
		"1970-01-01T12:00": .5, "1970-01-01 06:00:00": .25, "1970-01-01T00:00:00.5Z": .5 / 86400, "1970-01-02T01:00:00+02:00": 1 - 1./24, "1970-01-01T23:00:00-0200": 1 + 1./24, "1970-01-01t00:00z": 0, "1970-01-01T12:00+12": 0,
	} {
		got, ok := parseDate([]byte(text))
		if !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q is %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1970-1-1", "1970-13-01", "1970-00-01", "2023-02-29", "1900-02-29", "1970-04-31", "1970-01-01T", "1970-01-01T24:00", "1970-01-01T12", "1970-01-01T12:60", "1970-01-01T12:00:61", "1970-01-01T12:00x", "1970-01-01T12:00+1", "1970-01-01T12:00+25:00", "1970-01-01T12:00+01:99", "1970-01-01X12:00", "197a-01-01", "1970-01-01T1a:00", "1970-01-01T12:00:0x", "1970-01-01T12:00+ab", "1970-01-01T12:00+01ab", "01/02/1970", "1970-01-01."} {
		if x, ok := parseDate([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, x)
		}
	}
}

// FuzzDate agrees with package time on what it takes for a date.
func FuzzDate(f *testing.F) {
	for _, seed := range []string{"2024-03-01", "2024-03-01T12:30:15.25Z", "2024-03-01T12:30:15+02:00", "0001-01-01T00:00:00Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer bounded.Start(t, len(text))()
		got, ok := parseDate([]byte(text))
		for _, layout := range []string{time.DateOnly, time.RFC3339} {
			want, err := time.Parse(layout, text)
			if err != nil || want.Format(layout) != text {
				continue // package time also takes hours of one digit
			}
			if n := len(text); n > 20 && text[n-5:n-3] == "24" {
				continue // and zones of 24 hours, which RFC 3339 has not
			}
			if x := float64(want.Unix())/86400 + float64(want.Nanosecond())/86400e9; !ok || math.Abs(x-got) > 1e-9 {
				t.Errorf("%q is %v %v, package time says %v", text, got, ok, x)
			}
		}
		if ok {
			a := Attribute{Kind: Numeric, Date: true}
			if back, ok := parseDate([]byte(a.Format(got))); firstDay <= got && got < lastDay && (!ok || back != got) {
				t.Errorf("%q is written as %q", text, a.Format(got))
			}
		}
	})
}

func TestFormat(t *testing.T) {
	number, date := &Attribute{Kind: Numeric}, &Attribute{Kind: Numeric, Date: true}
	for _, test := range []struct {
		a    *Attribute
		x    float64
		want string
	}{
		{number, NA, ""}, {number, 1234567, "1234567"}, {number, 0.1, "0.1"}, {number, 1e21, "1e+21"}, {number, 1e-7, "1e-07"}, {number, math.Inf(-1), "-Inf"}, {number, 0, "0"},
		{date, NA, ""}, {date, 19783, "2024-03-01"}, {date, 19783.5, "2024-03-01T12:00:00"}, {date, -0.25, "1969-12-31T18:00:00"}, {date, 0.1234567890123, "1970-01-01T02:57:46.666570663"}, {date, 1e9, "1000000000"}, {date, math.Inf(1), "+Inf"},
	} {
		if got := test.a.Format(test.x); got != test.want {
			t.Errorf("%v is written as %q, want %q", test.x, got, test.want)
		}
	}
}
