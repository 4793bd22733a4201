package thread

import (
	"testing"
	"time"
)

// TestTightest orders the limits that still hold by how much of them is used.
func TestTightest(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	f := func(x float64) *float64 { return &x }
	n := func(x int64) *int64 { return &x }
	all := []Quota{
		{Window: "unified-7d", Used: f(.22), Resets: now.Add(72 * time.Hour), At: now},
		{Window: "unified-5h", Used: f(.61), Resets: now.Add(time.Hour), At: now},
		{Window: "over", Used: f(.99), Resets: now, At: now},
		{Window: "requests", Limit: n(50), Remaining: n(49), At: now.Add(-time.Minute)},
		{Window: "tokens", Limit: n(50), Remaining: n(0), At: now.Add(-2 * time.Hour)}, // long ago, without an end
		{Window: "retry", Resets: now.Add(time.Minute), At: now},
		{Window: "none", Limit: n(0), Remaining: n(0), At: now},
		{Window: "primary", Minutes: 300, Used: f(1.2), Resets: now.Add(time.Hour), At: now},
	}
	want := []string{"5h 120%", "5h 61%", "7d 22%", "requests 2%", "none ?", "retry ?"}
	got := Tightest(all, now)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, q := range got {
		said := q.Label() + " ?"
		if share, known := q.Share(); known {
			said = q.Label() + " " + Percent(share)
		}
		if said != want[i] {
			t.Errorf("%d is %s, want %s", i, said, want[i])
		}
	}
	for minutes, want := range map[int64]string{10080: "7d", 1440: "1d", 300: "5h", 90: "90m", 0: "7d opus"} {
		if got := (Quota{Window: "unified-7d_opus", Minutes: minutes}).Label(); got != want {
			t.Errorf("%d minutes are %q", minutes, got)
		}
	}
}

// TestUSD: what is less than a cent is not nothing.
func TestUSD(t *testing.T) {
	for usd, want := range map[float64]string{0: "$0.00", .0001: "<$0.01", .005: "$0.01", 12.836: "$12.84", -.0001: "$0.00", -3.1: "−$3.10"} {
		if got := USD(usd); got != want {
			t.Errorf("%v is %s, want %s", usd, got, want)
		}
	}
}
