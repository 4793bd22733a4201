package thread_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"orchestrator/thread"
)

// TestContextCountsEveryKind: a gauge that leaves out what was read from the cache shows a full context as empty.
func TestContextCountsEveryKind(t *testing.T) {
	u := thread.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000}
	if got := u.Context(); got != 4321 {
		t.Errorf("%+v fills %d tokens", u, got)
	}
}

// TestAddKeepsEveryKind fills every number and holds that none is forgotten in a sum.
func TestAddKeepsEveryKind(t *testing.T) {
	var u thread.Usage
	v := reflect.ValueOf(&u).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int64:
			f.SetInt(int64(i + 1))
		case reflect.Float64:
			f.SetFloat(float64(i + 1))
		default:
			f.SetBool(true)
		}
	}
	sum := reflect.ValueOf(u.Add(u))
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, sum.Field(i)
		if f.CanInt() && f.Int() != int64(2*(i+1)) || f.CanFloat() && f.Float() != float64(2*(i+1)) || f.IsZero() {
			t.Errorf("%s is %v", name, f)
		}
	}
}

// TestUsageOfOlderBuilds: stores and archives hold usages that were written before writes for an hour were told apart,
// and a usage without any is written as it was then.
func TestUsageOfOlderBuilds(t *testing.T) {
	const old = `{"input":1,"cacheRead":2,"cacheWrite":3,"output":4,"costUSD":0.5,"priced":true}`
	want := thread.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4, CostUSD: .5, Priced: true}
	var got thread.Usage
	if err := json.Unmarshal([]byte(old), &got); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if b, err := json.Marshal(want); err != nil || string(b) != old {
		t.Errorf("%s, %v", b, err)
	}
}

func TestBandsBegin(t *testing.T) {
	for percent, want := range map[float64]thread.Band{
		0: thread.BandNormal, 29.9: thread.BandNormal,
		30: thread.BandMasking, 59.9: thread.BandMasking,
		60: thread.BandSummarising, 89.9: thread.BandSummarising,
		90: thread.BandEmergency, 94.9: thread.BandEmergency,
		95: thread.BandFull, 1764: thread.BandFull,
	} {
		if got := thread.BandOf(percent); got != want {
			t.Errorf("%v %%: %s, want %s", percent, got, want)
		}
	}
}
