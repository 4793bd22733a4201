// Package intent contains the intents that keys express, as sealed values, and the table that binds keys to them.
//
// Keys become intents once, at the edge of the program; panels never see keys. The help and the command palette are
// made from the same table, so they always match what the keys do. Scopes are tried innermost first; a scope with text
// input passes nothing on.
package intent

import "slices"

// Intent is something that the user wants. The set is closed.
type Intent interface{ intent() }

// Type is typed or pasted text.
type Type struct{ Text string }

// Jump selects the n-th visible thread, counted from 1.
type Jump struct{ N int }

// Pick chooses the n-th answer of a question, counted from 1.
type Pick struct{ N int }

// Digit is a digit of the number before a motion, from 1 on; the rest is 0 or what follows.
type Digit struct{ N int }

func (Digit) intent()  {}
func (Type) intent()   {}
func (Pick) intent()   {}
func (Jump) intent()   {}
func (Action) intent() {}

// Action is an intent without a value; its text is its name in the configuration.
type Action string

// The actions.
const (
	Quit     Action = "quit"
	Help     Action = "help"
	Palette  Action = "palette"
	Go       Action = "go"
	Find     Action = "find"
	NextView Action = "next-view"
	Turns    Action = "timeline"
	Contents Action = "context"
	PrevView Action = "prev-view"
	Redraw   Action = "redraw"
	Leave    Action = "leave"
	Sidebar  Action = "sidebar"
	Wider    Action = "wider-list"
	Narrower Action = "narrower-list"
	Layout   Action = "layout"
	Zoom     Action = "zoom"
	Events   Action = "events"
	Suspend  Action = "suspend"
	Restart  Action = "restart-server"

	// Menu opens the menu of acts that stop, merge, remove or publish.
	Menu Action = "menu"

	New      Action = "new"
	Remember Action = "remember-profile"
	Focus    Action = "focus"
	Send     Action = "send"
	Prompts  Action = "prompts"
	Fork     Action = "fork"
	ForkAt   Action = "fork-at"
	Rename   Action = "rename"
	Pin      Action = "pin"
	Mark     Action = "mark"
	Archive  Action = "archive"
	Archived Action = "archived"
	FileAway Action = "archive-now" // without a question
	Delete   Action = "delete"
	Undo     Action = "undo"
	Stop     Action = "stop"
	StopNow  Action = "stop-now" // without a question
	Resume   Action = "resume"
	Resumes  Action = "resumes"
	// CancelRun, ResumeRun and FallbackRun are about an agent without a terminal.
	CancelRun   Action = "cancel-run"
	ResumeRun   Action = "resume-run"
	FallbackRun Action = "fallback-run"
	Merge       Action = "merge"
	Finish      Action = "finish"
	Abandon     Action = "abandon"
	Push        Action = "push"
	PR          Action = "pull-request"
	Export      Action = "export"
	Import      Action = "import"
	Collect     Action = "collect"
	Grants      Action = "grants"
	Why         Action = "why"
	MCP         Action = "mcp"
	NextWait    Action = "next-waiting"
	LastSeen    Action = "last-thread"
	Inbox       Action = "inbox"
	Peek        Action = "peek"
	Back        Action = "back"
	Forward     Action = "forward"
	Money       Action = "money"
	Work        Action = "work"
	ShowWaves   Action = "waves"
	Filter      Action = "filter"
	Fold        Action = "fold"
	Unfold      Action = "unfold"
	Agents      Action = "agents"

	// SplitText and those that follow are about tasks of plans.
	SplitText   Action = "split-text"
	EditTask    Action = "edit-task"
	BeginTask   Action = "begin-task"
	BeginAll    Action = "begin-all"
	RetryNode   Action = "retry-agent"
	RetryFrom   Action = "retry-from"
	RetryFailed Action = "retry-failed"
	CancelTask  Action = "cancel-task"

	SwitchNow Action = "switch-now"
	Tool      Action = "tools"
	Approve   Action = "approve"
	Relaunch  Action = "restart-mcp"
	Log       Action = "mcp-log"
	SignIn    Action = "sign-in"
	Sort      Action = "sort"
	Problems  Action = "problems"

	Yes    Action = "yes"
	Always Action = "always"
	No     Action = "no"
	Reply  Action = "reply"
	Read   Action = "mark-read"

	TakeOffer    Action = "take-offer"
	DismissOffer Action = "dismiss-offer"
	OffersOff    Action = "offers-off"
	Offers       Action = "offers"

	Up       Action = "up"
	Down     Action = "down"
	PageUp   Action = "page-up"
	PageDown Action = "page-down"
	First    Action = "first"
	Last     Action = "last"
	Left     Action = "left"
	Right    Action = "right"

	Open     Action = "open"
	Rewind   Action = "rewind"
	ShowDiff Action = "show-diff"
	Compare  Action = "compare"
	Search   Action = "search"
	NextHit  Action = "next-hit"
	PrevHit  Action = "prev-hit"
	// EndSearch no longer marks what was searched for.
	EndSearch Action = "end-search"
	Editor    Action = "editor"
	NextFile  Action = "next-file"
	PrevFile  Action = "prev-file"
	Older     Action = "older"
	Newer     Action = "newer"
	Base      Action = "base"
	FoldAll   Action = "fold-all"
	PureTree  Action = "pure-tree"
	Density   Action = "density"

	Mask      Action = "mask"
	MaskAll   Action = "mask-all"
	MaskMode  Action = "mask-mode"
	PinResult Action = "pin-result"
	Summarise Action = "summarise"
	About     Action = "about"

	ScrollMode   Action = "scroll-mode"
	HalfUp       Action = "half-page-up"
	HalfDown     Action = "half-page-down"
	LineStart    Action = "line-start"
	LineText     Action = "line-text"
	LineEnd      Action = "line-end"
	NextWord     Action = "next-word"
	PrevWord     Action = "previous-word"
	WordEnd      Action = "word-end"
	NextBlock    Action = "next-block"
	PrevBlock    Action = "previous-block"
	ScreenTop    Action = "screen-top"
	ScreenMiddle Action = "screen-middle"
	ScreenBottom Action = "screen-bottom"
	SearchBack   Action = "search-back"
	SelectText   Action = "select-text"
	SelectLines  Action = "select-lines"
	SelectBlock  Action = "select-block"
	SelectOutput Action = "select-output"
	Copy         Action = "copy"
	CopyAnswer   Action = "copy-answer"
	AgentCopy    Action = "agent-clipboard"
	Transcript   Action = "transcript"

	Accept    Action = "accept"
	Submit    Action = "submit"
	Cancel    Action = "cancel"
	NextField Action = "next-field"
	PrevField Action = "prev-field"
	Toggle    Action = "toggle"
	ResumeOne Action = "resume-one"
	ResumeAll Action = "resume-all"

	EraseNextWord Action = "erase-next-word"
	EraseBack     Action = "erase-back"
	EraseNext     Action = "erase-next"
	EraseWord     Action = "erase-word"
	EraseEnd      Action = "erase-end"
	EraseLine     Action = "erase-line"
	CursorHome    Action = "cursor-home"
	CursorEnd     Action = "cursor-end"
	WordLeft      Action = "word-left"
	WordRight     Action = "word-right"
	TextStart     Action = "text-start"
	TextEnd       Action = "text-end"
	Yank          Action = "yank"
	NewLine       Action = "new-line"
)

// moves are the actions that only change what is shown.
var moves = []Action{
	Up, Down, PageUp, PageDown, First, Last, Left, Right, Fold, Unfold, NextWait, Back, Forward, NextView, PrevView, Leave,
	NextHit, PrevHit, EndSearch, NextFile, PrevFile, Older, Newer, NextField, PrevField, CursorHome, CursorEnd,
	WordLeft, WordRight, TextStart, TextEnd, HalfUp, HalfDown, LineStart, LineText, LineEnd, NextWord, PrevWord, WordEnd,
	NextBlock, PrevBlock, ScreenTop, ScreenMiddle, ScreenBottom, SelectText, SelectLines, SelectBlock, SelectOutput,
}

// Moves reports whether an intent only moves, so that it is harmless if typed by accident.
func Moves(in Intent) bool {
	switch in := in.(type) {
	case Jump, Digit:
		return true
	case Action:
		return slices.Contains(moves, in)
	default:
		return false
	}
}
