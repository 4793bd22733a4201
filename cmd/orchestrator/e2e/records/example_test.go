package records

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"

	"orchestrator/thread/api"
	"orchestrator/thread/orchestration"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// ExampleSession is a work session in its five phases. It runs against a real server (TestExampleSession).
func ExampleSession() {
	server, files := connected() // a client of the project's server, and the project's folder
	ctx := context.Background()
	session, err := orchestration.New(ctx, server, orchestration.Options{
		Scope: "Implement vector search feature", ID: "orch-2025-01-17-001", Files: files,
	})
	check(err)

	// Phase 1: analyze. Phase 2: plan.
	_, err = session.SetPhase(ctx, work.PhaseAnalyze)
	check(err)
	made, err := session.PrepareContext(ctx, orchestration.Context{
		AgentType: "task-implementor", Files: []string{"spec/requirements.md", "lib/types.ts"},
		References: []string{"references/hnsw-algorithm.md"},
	})
	check(err)

	// Phase 3: execute. It is written down before it is deployed,
	execution, err := session.InitDeployment(ctx, record.InitExecution{
		Type: "task-implementor", Scope: "Implement HNSW algorithm", Bundle: &record.BundleArg{Ref: made.Kept.Bundle.ID}, Model: "sonnet",
	})
	check(err)
	// ... the agent works on its own ...
	_, err = execution.RecordCompletion(ctx, orchestration.Completion{ // and once it has returned.
		FinalMessage: "The search is written.", Success: true,
		Deliverables: []string{"lib/vector-search.ts", "tests/vector-search.test.ts"},
	})
	check(err)

	// Phase 4: validate.
	validation, err := session.ValidateOutputs(ctx)
	check(err)
	for _, v := range validation {
		for _, o := range v.Deliverables {
			fmt.Println(v.Execution, o.Path, "version", o.Version)
		}
	}

	// Phase 5: confirm.
	report, err := session.GenerateSynthesisReport(ctx, "")
	check(err)
	fmt.Println(len(report) > 0)
	done, err := session.Complete(ctx)
	check(err)
	fmt.Println(done.Name, done.Status, len(done.Open))

	// What was done before.
	past, err := orchestration.Query(ctx, server, record.QueryExecutions{Type: "task-implementor", Limit: 10})
	check(err)
	for _, x := range past {
		fmt.Println(x.Execution, x.AgentType, x.Status, *x.Success, x.Message)
	}
}

// connected is set by the test that runs the example.
var connected = func() (api.Doer, fs.FS) { return nil, os.DirFS(".") }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
