// Package checkpointtest is the conformance suite of the store's contract (package checkpoint). Each
// implementation runs it over itself; it needs nothing but the standard library and the store.
package checkpointtest

import (
	"testing"
)

// Run tests that a store keeps the contract.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"Threads":      testThreads,
		"Names":        testNames,
		"Select":       testSelect,
		"SelectPages":  testSelectPages,
		"Update":       testUpdate,
		"Put":          testPut,
		"PutTwice":     testPutTwice,
		"PutRefused":   testPutRefused,
		"PutMoves":     testPutMoves,
		"Pages":        testPages,
		"Forks":        testForks,
		"Rewinds":      testRewinds,
		"Rewritten":    testRewritten,
		"Exact":        testExact,
		"Long":         testLong,
		"Files":        testFiles,
		"Model":        testModel,
		"Purge":        testPurge,
		"PurgeRewound": testPurgeRewound,
		"Executions":   testExecutions,
		"Intents":      testIntents,
		"Settings":     testSettings,
		"Prompts":      testPrompts,
		"PromptsPut":   testPromptsPut,
		"Concurrent":   testConcurrent,
		"Cancelled":    testCancelled,
		"Isolated":     testIsolated,
		"Damage":       testDamage,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, &fixture{T: t, h: h, store: h.Open(t), ctx: t.Context()})
		})
	}
}
