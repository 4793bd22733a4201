package api

import "orchestrator/thread"

// The server itself.
const (
	Info Call[InfoRequest, ServerInfo] = "info"
	Stop Call[StopRequest, StopReport] = "stop"
	// Agents says which agents can be started here, MCP which MCP servers are configured.
	Agents Call[None, []thread.AgentInfo] = "agents"
	MCP    Call[None, []thread.MCPServer] = "mcp"
)

// What callers may do.
const (
	// May asks whether an operation would be allowed to this client.
	May       Command[MayRequest]               = "may"
	Grants    Call[Ref, ThreadGrants]           = "grants"
	SetGrants Call[GrantsRequest, ThreadGrants] = "setgrants"
)

// Threads and their agents.
const (
	// List returns all threads but the deleted ones.
	List   Call[None, []thread.Status]             = "list"
	Status Call[Ref, thread.Status]                = "status"
	New    Call[thread.NewRequest, thread.Status]  = "new"
	Fork   Call[thread.ForkRequest, thread.Status] = "fork"
	// Resume starts a thread's agent again where it was, ResumeAll those of all interrupted threads.
	Resume    Call[ResumeRequest, thread.Status]   = "resume"
	ResumeAll Call[ResumeRequest, []thread.Status] = "resumeall"
	// SetUp runs the setup of a thread's worktree again.
	SetUp Call[Ref, thread.Status] = "setup"
	// StopAgent ends a thread's agent; the thread stays.
	StopAgent Command[Ref] = "stopagent"
	// Why explains a thread's state.
	Why Call[Ref, thread.StateReport] = "why"
)

// Prompts.
const (
	// Ask has a prompt typed into a thread's agent when it waits for one. The prompt is durable when the call returns.
	Ask Call[AskRequest, thread.Prompt] = "ask"
	// Prompts returns the newest prompts, oldest first.
	Prompts Call[PromptsRequest, []thread.Prompt] = "prompts"
	Prompt  Call[PromptRef, thread.Prompt]        = "prompt"
	// EditPrompt and CancelPrompt change a prompt that is queued, AskAgain one that was interrupted or refused.
	EditPrompt   Call[EditRequest, thread.Prompt] = "prompt-edit"
	CancelPrompt Call[PromptRef, thread.Prompt]   = "prompt-cancel"
	AskAgain     Call[PromptRef, thread.Prompt]   = "prompt-again"
)

// Keeping threads in order.
const (
	// Switch makes a thread the one that screens show.
	Switch Call[Ref, thread.Status] = "switch"
	// Seen tells that a person has looked at a thread.
	Seen      Command[Ref]                       = "seen"
	Rename    Call[RenameRequest, thread.Status] = "rename"
	Pin       Command[PinRequest]                = "pin"
	Archive   Command[Ref]                       = "archive"
	Unarchive Command[Ref]                       = "unarchive"
	// Delete removes a thread; Undelete brings it back until it is purged.
	Delete   Command[Ref] = "delete"
	Undelete Command[Ref] = "undelete"
	// Abandon marks a thread's work as given up.
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
	// Find searches names, prompts and answers.
	Find Call[FindRequest, []thread.Hit] = "find"
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
	// AnswerOffer accepts or dismisses an offer, or switches them off.
	AnswerOffer Call[OfferAnswer, thread.Status] = "answeroffer"
	// SetOffers changes what becomes of fork offers.
	SetOffers Command[OffersRequest] = "setoffers"
)

// What leaves the project and comes into it.
const (
	Export        Call[thread.TransferRequest, thread.Status]       = "export"
	Import        Call[thread.TransferRequest, thread.Status]       = "import"
	Backup        Call[thread.TransferRequest, thread.BackupReport] = "backup"
	RestoreBackup Call[thread.TransferRequest, thread.BackupReport] = "restorebackup"
	// Collect deletes what the retention settings need not keep.
	Collect Call[thread.CollectRequest, thread.Collected] = "collect"
)

// What goes on.
const (
	// Events streams what happens to all threads.
	Events Stream[None] = "events"
	// Speech streams one thread's events with what its model says, in their order.
	Speech Stream[Ref] = "speech"
	// Terminal is a thread's terminal over a WebSocket; see TerminalRequest.
	Terminal = "terminal"
)
