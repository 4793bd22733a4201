// Package plantest is the conformance suite of the store of tasks of plans (plan.Store). Each implementation runs it over
// itself; it needs nothing but the standard library and the store.
package plantest

import "testing"

// Run tests that a store keeps the contract.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"Add":        testAdd,
		"AddRefused": testAddRefused,
		"Begin":      testBegin,
		"Change":     testChange,
		"Fences":     testFences,
		"Nodes":      testNodes,
		"Deliver":    testDeliver,
		"Stale":      testStale,
		"Bytes":      testBytes,
		"Tokens":     testTokens,
		"List":       testList,
		"Events":     testEvents,
		"Take":       testTake,
		"TakeOrder":  testTakeOrder,
		"TakeRace":   testTakeRace,
		"BeginRace":  testBeginRace,
		"Purge":      testPurge,
		"Hostile":    testHostile,
		"Wide":       testWide,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{T: t, h: h, ctx: t.Context()}
			f.store = h.Open(t, f.now)
			test(t, f)
		})
	}
}
