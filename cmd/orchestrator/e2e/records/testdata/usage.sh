# 1. Initialize session (planning phase)
python scripts/execution_tracker.py init-session \
  --scope "Implement vector search feature" \
  --session-id "orch-2025-01-17-001"

# 2. Record deployment intention (BEFORE deploying agent)
python scripts/execution_tracker.py init-deployment \
  --session-id "orch-2025-01-17-001" \
  --execution-id "exec-001" \
  --agent-type "task-implementor" \
  --scope "Implement HNSW algorithm" \
  --context-token-count 15000 \
  --model "sonnet"

# 3. Deploy agent via Claude Code Task tool
# (Agent runs independently - NO interaction possible)

# 4. Record completion (AFTER agent returns final message)
python scripts/execution_tracker.py record-completion \
  --execution-id "exec-001" \
  --status "completed" \
  --final-message "$(cat agent-output.txt)" \
  --deliverables "lib/vector-search.ts,tests/vector-search.test.ts"

# 5. Query historical executions
python scripts/execution_tracker.py query \
  --session-id "orch-2025-01-17-001" \
  --format json

# Prepare context bundle for agent
python scripts/context_manager.py prepare-bundle \
  --agent-type "task-implementor" \
  --scope "Implement vector search" \
  --files "spec/requirements.md,lib/types.ts" \
  --references "references/hnsw-algorithm.md" \
  --output bundle.json

# Track context budget across orchestration
python scripts/context_manager.py track-budget \
  --session-id "orch-2025-01-17-001" \
  --phase 3 \
  --budget 200000 \
  --warn-threshold 0.75

# Identify shared context across agents
python scripts/context_manager.py deduplicate \
  --bundles "bundle-001.json,bundle-002.json" \
  --output shared-context.json

# Generate agent briefing with optimized context
python scripts/context_manager.py generate-briefing \
  --bundle bundle.json \
  --template briefing-template.md \
  --output agent-briefing.md

# Collect agent outputs into database
python scripts/output_collector.py collect \
  --execution-id "exec-001" \
  --deliverables "lib/vector-search.ts,tests/vector-search.test.ts" \
  --validation-results "format:pass,lint:pass,types:pass,tests:pass" \
  --insights "HNSW provides O(log n) search complexity"

# Query outputs by agent type
python scripts/output_collector.py query \
  --agent-type "systematic-debugger" \
  --limit 10 \
  --format json

# Query outputs by session
python scripts/output_collector.py query \
  --session-id "orch-2025-01-17-001" \
  --output-type "deliverable"

# Query recent outputs
python scripts/output_collector.py query \
  --since "2025-01-15" \
  --format markdown

# Generate synthesis report with database integration
python scripts/output_collector.py synthesize \
  --session-id "orch-2025-01-17-001" \
  --template synthesis-report.tmpl \
  --output report.md
