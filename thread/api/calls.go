package api

import (
	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/bundle"
	"orchestrator/thread/plan"
	"orchestrator/thread/record"
	"orchestrator/thread/spending"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// The server itself.
const (
	Info Call[InfoRequest, ServerInfo] = "info"
	Stop Call[StopRequest, StopReport] = "stop"
	// Agents lists the agents that can be started here.
	Agents Call[None, []thread.AgentInfo] = "agents"
	// Cost sums up what was spent in all threads.
	Cost Call[spending.Query, spending.Report] = "cost"
)

// The record of work as screens show it.
const (
	WorkGlance Call[record.OverviewRequest, record.Glance] = "work-glance"
	WorkPage   Call[record.PageRequest, record.Page]       = "work-page"
)

// MCP servers.
const (
	// MCP lists the configured servers as a thread has them, MCPDetail returns everything about one, and MCPWhy says which
	// ones a text needs.
	MCP       Call[thread.MCPQuery, thread.MCPReport] = "mcp"
	MCPDetail Call[thread.MCPAct, thread.MCPDetail]   = "mcp-detail"
	MCPWhy    Call[thread.MCPTask, []thread.MCPWhy]   = "mcp-why"
	// SwitchMCP switches a server or a tool for a thread; ActMCP restarts, accepts or signs in; CallMCP calls a tool.
	SwitchMCP Call[thread.MCPChange, thread.MCPReport] = "mcp-switch"
	ActMCP    Call[thread.MCPAct, thread.MCPDetail]    = "mcp-act"
	CallMCP   Call[thread.MCPCall, thread.MCPResult]   = "mcp-call"
	// ServeMCP is not a call: the connection becomes one of messages of MCP, for the agent that opens it.
	ServeMCP = "mcp-serve"
)

// Permissions of callers.
const (
	// May asks whether this client may use an operation.
	May       Command[MayRequest]               = "may"
	Grants    Call[Ref, ThreadGrants]           = "grants"
	SetGrants Call[GrantsRequest, ThreadGrants] = "setgrants"
)

// Threads and their agents.
const (
	// List returns the threads in use, and those that they were forked from; Archived the archived ones, by the page.
	List     Call[None, []thread.Status]             = "list"
	Archived Call[ArchivedRequest, ArchivedPage]     = "archived"
	Status   Call[Ref, thread.Status]                = "status"
	New      Call[thread.NewRequest, thread.Status]  = "new"
	Fork     Call[thread.ForkRequest, thread.Status] = "fork"
	// Resume resumes a thread's agent, ResumeAll those of all interrupted threads.
	Resume    Call[ResumeRequest, thread.Status]   = "resume"
	ResumeAll Call[ResumeRequest, []thread.Status] = "resumeall"
	// SetUp runs the setup of a thread's worktree again.
	SetUp Call[Ref, thread.Status] = "setup"
	// StopAgent stops a thread's agent; the thread stays.
	StopAgent Command[Ref] = "stopagent"
	// Why explains a thread's state.
	Why Call[Ref, thread.StateReport] = "why"
)

// Prompts.
const (
	// Ask sends a prompt to a thread's agent once it is waiting for one. The prompt is durable when the call returns.
	Ask Call[AskRequest, thread.Prompt] = "ask"
	// Prompts returns the newest prompts, oldest first.
	Prompts Call[PromptsRequest, []thread.Prompt] = "prompts"
	Prompt  Call[PromptRef, thread.Prompt]        = "prompt"
	// EditPrompt and CancelPrompt change a queued prompt. AskAgain sends an interrupted or refused one again.
	EditPrompt   Call[EditRequest, thread.Prompt] = "prompt-edit"
	CancelPrompt Call[PromptRef, thread.Prompt]   = "prompt-cancel"
	AskAgain     Call[PromptRef, thread.Prompt]   = "prompt-again"
)

// Runs: threads whose agent works without a terminal, and their executions.
const (
	// StartRun is New, and ForkRun is Fork, with Once: the first prompt is the first execution, named in Status.Run.
	StartRun Call[thread.NewRequest, thread.Status]  = "run"
	ForkRun  Call[thread.ForkRequest, thread.Status] = "run-fork"
	// Executions returns some, newest first; ExecutionEvents a part of the record of one, oldest first.
	Executions      Call[ExecutionsRequest, []work.Execution]  = "exec-list"
	Execution       Call[ExecutionRef, work.Execution]         = "exec-show"
	ExecutionEvents Call[ExecutionEventsRequest, []work.Event] = "exec-events"
	// FollowExecution streams what an execution reports, as events with Run, until it has ended. A slow reader misses
	// pieces, and is told.
	FollowExecution Stream[ExecutionRef] = "exec-follow"
	// CancelExecution ends an execution. It returns when that is durable and nothing of it runs any more.
	CancelExecution Call[CancelRequest, work.Execution] = "exec-cancel"
	// SendExecution sends the next prompt to the thread of an execution: its next one.
	SendExecution Call[SendRequest, thread.Prompt] = "exec-send"
	// ResumeExecution queues a lost execution again.
	ResumeExecution Call[ExecutionRef, work.Execution] = "exec-resume"
	// Budgets tells what may be spent, and what is. SetBudget changes that.
	Budgets   Call[None, budget.Report]           = "budget"
	SetBudget Call[budget.Change, budget.Account] = "budget-set"
	// RetryExecution queues a failed execution again, FallBackExecution has its fallback take its place.
	RetryExecution    Call[ExecutionRef, work.Execution] = "exec-retry"
	FallBackExecution Call[ExecutionRef, work.Execution] = "exec-fallback"
	// Queue tells what waits, what runs and what bounds it. SetQueue changes that.
	Queue    Call[None, work.QueueReport]             = "queue"
	SetQueue Call[work.QueueChange, work.QueueReport] = "queue-set"
)

// The record of work: work sessions, and executions that somebody writes down. What a caller may do is decided there.
const (
	InitSession     Call[record.InitSession, record.SessionAnswer]     = "session-init"
	PhaseSession    Call[record.PhaseSession, record.SessionAnswer]    = "session-phase"
	CompleteSession Call[record.CompleteSession, record.SessionAnswer] = "session-complete"
	Sessions        Call[record.QuerySessions, []work.Session]         = "session-list"
	Session         Call[record.SessionRef, record.SessionView]        = "session-show"
	PutTask         Call[record.PutTask, work.Task]                    = "session-task"
	// InitExecution writes down an execution before it begins, CompleteExecution how it ended.
	InitExecution     Call[record.InitExecution, record.ExecutionAnswer]     = "exec-init"
	CompleteExecution Call[record.CompleteExecution, record.ExecutionAnswer] = "exec-complete"
	// QueryExecutions returns executions of all kinds, in the names of the view.
	QueryExecutions Call[record.QueryExecutions, []work.Row] = "exec-query"
)

// Bundles: the contexts that agents are given. The files of a bundle are in the request: who calls has read them.
const (
	// PrepareBundle makes a bundle and keeps it; ShowBundle returns one with its content, Bundles lists them.
	PrepareBundle Call[record.PrepareRequest, bundle.Made]       = "bundle-prepare"
	ShowBundle    Call[record.BundleArg, record.BundleContent]   = "bundle-show"
	Bundles       Call[record.BundlesRequest, []work.KeptBundle] = "bundle-list"
	DedupBundles  Call[record.DedupRequest, bundle.Shared]       = "bundle-dedup"
	BundleBudget  Call[record.BudgetRequest, bundle.Budget]      = "bundle-budget"
	// AllocateBundle records what an execution by hand was given.
	AllocateBundle Call[record.AllocateRequest, []work.Allocation] = "bundle-allocate"
)

// What came of executions.
const (
	// CollectOutputs writes it down, QueryOutputs lists it, CheckOutputs runs the project's checks on it.
	CollectOutputs Call[record.CollectOutputs, []work.Output] = "output-collect"
	QueryOutputs   Call[record.QueryOutputs, []work.Output]   = "output-query"
	CheckOutputs   Call[record.CheckOutputs, record.Checked]  = "output-check"
	// SessionReport returns what a report of a work session tells; the client writes it.
	SessionReport Call[record.MakeReport, record.Report] = "session-report"
)

// Answers about all that is recorded.
const (
	// History finds executions of all kinds, HistoryContext returns what those of a type were given, HistoryWho who worked on
	// a task, HistoryBundles what bundles produced, and HistoryTrace the chain that something is a part of.
	History        Call[record.HistoryRequest, []record.Worked]    = "history"
	HistoryContext Call[record.ContextRequest, []record.Given]     = "history-context"
	HistoryWho     Call[record.WhoRequest, record.Who]             = "history-who"
	HistoryBundles Call[record.ProducedRequest, []record.Produced] = "history-bundles"
	HistoryTrace   Call[record.TraceRequest, record.Trace]         = "history-trace"
	// Stats sums up executions of all kinds.
	Stats Call[record.StatsRequest, record.Sums] = "stats"
)

// Plans at work: their tasks. What a caller may see is decided there.
const (
	// RunWave starts a plan on a task, WaveStatus returns a task with its agents, Waves lists tasks.
	RunWave    Call[wave.RunRequest, wave.View] = "wave-run"
	WaveStatus Call[wave.TaskRef, wave.View]    = "wave-status"
	Waves      Call[plan.TaskQuery, []wave.Sum] = "wave-list"
	// CancelWave ends all agents of a task or one, RetryWave begins again, AnswerWave answers what a person is asked.
	CancelWave Call[wave.TaskRef, wave.View]       = "wave-cancel"
	RetryWave  Call[wave.RetryRequest, wave.View]  = "wave-retry"
	AnswerWave Call[wave.AnswerRequest, wave.View] = "wave-answer"
	// WaveGlance returns what a screen shows of tasks.
	WaveGlance Call[wave.GlanceRequest, wave.Glance] = "wave-glance"
	// CompareWave has an agent's work done once more beside it, and looks at what comes of it.
	CompareWave Call[wave.CompareRequest, wave.Compared] = "wave-compare"
)

// What agents of plans hand over. What a caller may read is decided there.
const (
	GetDeliverable Call[wave.GetRequest, plan.HandOver]      = "deliverable-get"
	Deliverables   Call[wave.HandedRequest, []plan.HandOver] = "deliverable-list"
	PutDeliverable Call[wave.PutRequest, wave.PutAnswer]     = "deliverable-put"
)

// Tasks of plans that wait, and the plans that take them.
const (
	// AddTask adds a task that waits, Tasks lists tasks, EditTask changes or cancels one that has not begun.
	AddTask  Call[wave.AddRequest, plan.Task]    = "task-add"
	Tasks    Call[wave.ListRequest, []plan.Task] = "task-list"
	EditTask Call[wave.EditRequest, plan.Task]   = "task-edit"
	// StartTask begins a task that waits, with the plan of the request.
	StartTask Call[wave.RunRequest, plan.Task] = "task-start"
	// SplitTask has an agent split a text: it returns the task of that agent, whose end the proposals follow on.
	SplitTask Call[wave.SplitRequest, plan.Task] = "task-split"
	// ArmPlan arms a plan, which takes tasks then as they come, or disarms it; ArmedPlans lists those that were armed.
	ArmPlan    Call[wave.ArmRequest, wave.StandingPlan] = "wave-arm"
	ArmedPlans Call[None, []wave.StandingPlan]          = "wave-armed"
)

// Answer answers the question that a thread's agent asks in a dialog.
const Answer Call[AnswerRequest, thread.Status] = "answer"

// Managing threads.
const (
	// Switch makes all screens show a thread.
	Switch Call[Ref, thread.Status] = "switch"
	// Seen reports that the user has looked at a thread.
	Seen      Command[Ref]                       = "seen"
	Rename    Call[RenameRequest, thread.Status] = "rename"
	Pin       Command[PinRequest]                = "pin"
	Archive   Command[Ref]                       = "archive"
	Unarchive Command[Ref]                       = "unarchive"
	// Delete deletes a thread. Undelete restores it until it is purged.
	Delete   Command[Ref] = "delete"
	Undelete Command[Ref] = "undelete"
	// Abandon marks a thread as abandoned.
	Abandon Command[AbandonRequest] = "abandon"
)

// History.
const (
	// Timeline returns a page of a thread's checkpoints, newest first.
	Timeline Call[TimelineRequest, []thread.Checkpoint] = "timeline"
	// Turn returns what was said in one turn.
	Turn   Call[TurnRequest, []thread.Entry]               = "turn"
	Diff   Call[thread.DiffRequest, []thread.FileDiff]     = "diff"
	Rewind Call[thread.RewindRequest, thread.RewindReport] = "rewind"
	// Find searches names, prompts, answers and changed files.
	Find Call[FindRequest, []thread.Hit] = "find"
)

// Contexts.
const (
	// Context asks what fills a thread's context.
	Context Call[Ref, thread.ContextReport] = "context"
	// ChangeContext changes what is masked of it, from the thread's next request on.
	ChangeContext Call[thread.ContextChange, thread.ContextReport] = "context-change"
	// SetBase gives a thread another profile of what its agent leaves out, from its next start on.
	SetBase Call[thread.BaseRequest, thread.BaseChange] = "base-set"
	// Base asks what an agent sends before a word is said.
	Base Call[thread.BaseQuery, thread.BaseReport] = "base"
)

// Merges.
const (
	Merge         Call[thread.MergeRequest, thread.MergeReport] = "merge"
	MergeContinue Call[Ref, thread.MergeReport]                 = "mergecontinue"
	MergeAbort    Command[Ref]                                  = "mergeabort"
	// Finish archives a merged thread and removes its worktree.
	Finish Call[Ref, thread.MergeReport]               = "finish"
	Push   Call[thread.PushRequest, thread.PushReport] = "push"
)

// Fork offers.
const (
	// AnswerOffer accepts or dismisses an offer, or turns off offers.
	AnswerOffer Call[OfferAnswer, thread.Status] = "answeroffer"
	// SetOffers sets when forks are offered.
	SetOffers Command[OffersRequest] = "setoffers"
)

// Export, import, backup and retention.
const (
	Export        Call[thread.TransferRequest, thread.Exported]     = "export"
	Import        Call[thread.TransferRequest, thread.Imported]     = "import"
	Backup        Call[thread.TransferRequest, thread.BackupReport] = "backup"
	RestoreBackup Call[thread.TransferRequest, thread.BackupReport] = "restorebackup"
	// Collect deletes threads past the retention limits.
	Collect Call[thread.CollectRequest, thread.Collected] = "collect"
)

// Staged data.
const (
	Stage Upload[thread.StageRequest, thread.Staged] = "stage"
	// Retrieve counts as a use and restarts the data's time to live.
	Retrieve   Download[RetrieveRequest]          = "retrieve"
	StageList  Call[None, []thread.Staged]        = "stage-list"
	StageInfo  Call[StagedRef, thread.StagedInfo] = "stage-info"
	StageTouch Call[TouchRequest, thread.Staged]  = "stage-touch"
	Unstage    Call[StagedRef, thread.Staged]     = "unstage"
)

// EventLog returns a part of the log of what happened in all threads.
const EventLog Call[thread.HappeningQuery, thread.HappeningList] = "event-log"

// Streams.
const (
	// Events streams the events of all threads.
	Events Stream[None] = "events"
	// Speech streams one thread's events, including its model's output, in order.
	Speech Stream[Ref] = "speech"
	// Terminal is a thread's terminal over a WebSocket; see TerminalRequest.
	Terminal = "terminal"
)
