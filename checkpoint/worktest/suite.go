// Package worktest is the conformance suite of the store of the record of work (work.Keeper). Each implementation runs it over
// itself; it needs nothing but the standard library and the store.
package worktest

import (
	"testing"
)

// Run tests that a store keeps the contract.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"Add":        testAdd,
		"AddRefused": testAddRefused,
		"Names":      testNames,
		"Life":       testLife,
		"Asks":       testAsks,
		"Change":     testChange,
		"Fence":      testFence,
		"Supersede":  testSupersede,
		"Transition": testTransition,
		"Events":     testEvents,
		"List":       testList,
		"Open":       testOpen,
		"Purge":      testPurge,
		"Hostile":    testHostile,
		"Damage":     testDamage,
		"Race":       testRace,
		"Numbers":    testNumbers,
		"Twice":      testTwice,
		"Writers":    testWriters,
		"Cancelled":  testCancelled,

		"Sessions":      testSessions,
		"Belongs":       testBelongs,
		"Tasks":         testTasks,
		"End":           testEnd,
		"Kinds":         testKinds,
		"Outputs":       testOutputs,
		"Versions":      testVersions,
		"Voices":        testVoices,
		"Whole":         testWhole,
		"Allocations":   testAllocations,
		"Bundles":       testBundles,
		"BundlesAtOnce": testBundlesAtOnce,
		"Recorded":      testRecorded,
		"Parts":         testParts,
		"Stats":         testStats,
		"Written":       testWritten,
		"Load":          testLoad,
		"Expire":        testExpire,
		"HostileRecord": testHostileRecord,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{T: t, h: h, ctx: t.Context()}
			f.store = h.Open(t, f.now)
			test(t, f)
		})
	}
}
