# Initialize orchestration session
python scripts/execution_tracker.py init-session \
  --scope "Implement vector search" \
  --session-id "orch-2025-01-17-001"

# Validate context files exist
python scripts/validate_orchestration.py \
  --scope "Implement vector search" \
  --context-files "spec/requirements.md,lib/types.ts"

# Prepare context bundles for each planned agent
python scripts/context_manager.py prepare-bundle \
  --agent-type "task-implementor" \
  --scope "Implement HNSW" \
  --files "spec/requirements.md,lib/types.ts" \
  --output bundle-001.json

# Track budget allocation
python scripts/context_manager.py track-budget \
  --session-id "orch-2025-01-17-001" \
  --bundles "bundle-001.json,bundle-002.json"

# BEFORE deployment - record intention
python scripts/execution_tracker.py init-deployment \
  --session-id "orch-2025-01-17-001" \
  --execution-id "exec-001" \
  --agent-type "task-implementor" \
  --context-bundle bundle-001.json

# Record context allocation
python scripts/context_manager.py record-allocation \
  --execution-id "exec-001" \
  --bundle bundle-001.json

# Deploy agent via Task tool (Claude Code)
# Agent runs independently - NO mid-execution logging possible

# AFTER completion - record result
python scripts/execution_tracker.py record-completion \
  --execution-id "exec-001" \
  --final-message "$(cat agent-final-output.txt)"

# Collect agent outputs into database
python scripts/output_collector.py collect \
  --execution-id "exec-001" \
  --deliverables "lib/vector-search.ts,tests/vector-search.test.ts" \
  --validation-results "format:pass,lint:pass,types:pass,tests:pass"

# Query outputs for validation
python scripts/output_collector.py query \
  --session-id "orch-2025-01-17-001" \
  --format json

# Generate synthesis report from database
python scripts/output_collector.py synthesize \
  --session-id "orch-2025-01-17-001" \
  --template synthesis-report.tmpl \
  --output report.md

# Mark session complete
python scripts/execution_tracker.py complete-session \
  --session-id "orch-2025-01-17-001"

# Query historical sessions
python scripts/execution_tracker.py query \
  --limit 10 \
  --format json
