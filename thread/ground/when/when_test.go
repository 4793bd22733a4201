package when_test

import (
	"strings"
	"testing"
	"time"

	"orchestrator/thread/ground/when"
)

func TestParse(t *testing.T) {
	zone := time.FixedZone("here", 2*3600)
	now := time.Date(2025, 3, 4, 5, 6, 7, 0, zone)
	for text, want := range map[string]string{
		"2025-01-15":                "2025-01-15T00:00:00+02:00",
		" 2025-01-15 ":              "2025-01-15T00:00:00+02:00",
		"2025/01/15":                "2025-01-15T00:00:00+02:00",
		"2025-01-15 14:30":          "2025-01-15T14:30:00+02:00",
		"2025-01-15 14:30:05":       "2025-01-15T14:30:05+02:00",
		"2025-01-15T14:30:05Z":      "2025-01-15T14:30:05Z",
		"2025-01-15t14:30:05z":      "2025-01-15T14:30:05Z",
		"2025-01-15T14:30:05-05:00": "2025-01-15T14:30:05-05:00",
		"now":                       "2025-03-04T05:06:07+02:00",
		"today":                     "2025-03-04T00:00:00+02:00",
		"Yesterday":                 "2025-03-03T00:00:00+02:00",
		"12h":                       "2025-03-03T17:06:07+02:00",
		"90m":                       "2025-03-04T03:36:07+02:00",
		"1h30m":                     "2025-03-04T03:36:07+02:00",
		"3d":                        "2025-03-01T05:06:07+02:00",
		"3 days ago":                "2025-03-01T05:06:07+02:00",
		"1 day ago":                 "2025-03-03T05:06:07+02:00",
		"2w":                        "2025-02-18T05:06:07+02:00",
		"2 weeks":                   "2025-02-18T05:06:07+02:00",
		"1mo":                       "2025-02-04T05:06:07+02:00",
		"2 months ago":              "2025-01-04T05:06:07+02:00",
		"1y":                        "2024-03-04T05:06:07+02:00",
		"36525d":                    "1925-03-04T05:06:07+02:00",
	} {
		got, err := when.Parse(text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q is %v, %v; want %s", text, got, err, want)
		}
	}
	for _, bad := range []string{"", " ", "soon", "3", "d", "3x", "-3d", "3d4", "2025-13-01", "2025-02-30", "99999999999999999999d",
		"36526d", "ago", "3 ago", "1.5h", "yesterday ago", "\uff13d", "0001-01-01", strings.Repeat("1d", 50)} {
		if got, err := when.Parse(bad, now); err == nil || !strings.Contains(err.Error(), "2025-01-15") {
			t.Errorf("%q is %v, %v", bad, got, err)
		}
	}
}

// TestSummer holds that a day is one of the calendar, also when the clock was put forward in it.
func TestSummer(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip("SKIPPED: this machine has no zones: ", err)
	}
	now := time.Date(2025, 3, 30, 12, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"1d": time.Date(2025, 3, 29, 12, 0, 0, 0, zone), "yesterday": time.Date(2025, 3, 29, 0, 0, 0, 0, zone),
		"24h": time.Date(2025, 3, 29, 11, 0, 0, 0, zone),
	} {
		if got, err := when.Parse(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("3 days ago")
	now := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := when.Parse(text, now); err == nil && at.IsZero() {
			t.Errorf("%q is no time, without an error", text)
		}
	})
}
