package agenttest_test

import (
	"strings"

	"orchestrator/thread"
)

const (
	esc      = "\x1b"
	up       = "\x1b[A"
	altEnter = "\x1b\r"
	ctrlC    = "\x03"
	ctrlO    = "\x0f"
	ctrlT    = "\x14"
	ctrlP    = "\x10"
	ctrlR    = "\x12"
	ctrlU    = "\x15"
)

// codexConfig is what Codex is configured with wherever a visit writes its configuration itself.
const codexConfig = "openai_base_url = \"URL/v1\"\ncheck_for_update_on_startup = false\n" +
	"[features]\nplugins = false\n[analytics]\nenabled = false\n"

// menus returns a place for each slash command: whatever it opens, no prompt of ours is typed there, and it is not idle.
func menus(names ...string) []place {
	var all []place
	for _, n := range names {
		all = append(all, place{name: n + "-menu", press: []string{"/" + n, "\r"}, menu: true})
	}
	return all
}

// visits are the screens of each CLI that are looked at.
var visits = map[string][]visit{
	"claude": {
		{name: "started", mode: "manual", places: []place{
			{name: "idle", see: "shortcuts", want: thread.StateIdle},
			{name: "draft", press: []string{"half a draft"}, see: "half a draft", draft: "half a draft", want: thread.StateIdle,
				back: []string{ctrlU}},
			{name: "draft-lines", press: []string{"half\x1b\ra draft"}, see: "a draft", draft: "half\na draft",
				want: thread.StateIdle, back: []string{ctrlU, "\x7f", ctrlU}},
			{name: "slash", press: []string{"/mo"}, see: "/model", draft: "/mo", back: []string{ctrlU}},
			{name: "at", press: []string{"see @"}, see: "see @", draft: "see @", back: []string{ctrlU}},
			{name: "bash", press: []string{"!ls"}, see: "ls", draft: "!ls", back: []string{ctrlU, "\x7f"}},
			{name: "model", press: []string{"/model", "\r"}, see: "Enter to", want: thread.StateQuestion, back: []string{esc}},
			{name: "resume", press: []string{"/resume", "\r"}, see: "Esc to", want: thread.StateQuestion, back: []string{esc}},
			{name: "permissions", press: []string{"/permissions", "\r"}, see: "Esc to", want: thread.StateQuestion,
				back: []string{esc}},
			{name: "config", press: []string{"/config", "\r"}, see: "Esc to", want: thread.StateQuestion,
				back: []string{esc, esc}},
			{name: "theme", press: []string{"/theme", "\r"}, see: "Esc to", want: thread.StateQuestion, back: []string{esc}},
			{name: "help", press: []string{"/help", "\r"}, see: "sc to", want: thread.StateQuestion, back: []string{esc}},
			{name: "login", press: []string{"/login", "\r"}, see: "sc to", back: []string{esc}},
		}},
		{name: "menus", mode: "manual", places: append([]place{
			{name: "answered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
			{name: "transcript", press: []string{ctrlO}, menu: true},
		}, menus("mcp", "memory", "agents", "hooks", "status", "doctor", "export", "plugin", "skills", "tasks", "context",
			"statusline", "output-style", "privacy-settings", "ide", "rewind", "diff", "effort", "color")...)},
		{name: "talk", mode: "manual", places: []place{
			{name: "answered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
			{name: "history", press: []string{up}, see: "❯ tell me", draft: "tell me", want: thread.StateIdle,
				back: []string{ctrlU}},
			{name: "search", press: []string{ctrlR}, see: "Search prompts", want: thread.StateQuestion, back: []string{esc}},
			{name: "rewind", press: []string{esc + esc}, see: "to cancel", want: thread.StateQuestion, back: []string{esc}},
			{name: "approval", ask: "run it #bash:touch made.txt #say:ran.", see: "Do you want", want: thread.StateApproval,
				back: []string{"1"}},
			{name: "edit", ask: "write it #write:new.txt=x #say:wrote.", see: "Do you want", want: thread.StateApproval,
				back: []string{"1"}},
			{name: "question", ask: "ask me #ask", see: "Blue", want: thread.StateQuestion, back: []string{"\r"}},
			{name: "working", ask: "hold it #hold:plug #say:held.", see: "hold it", want: thread.StateWorking},
			{name: "put-back", press: []string{esc}, see: "hold it", draft: "hold it #hold:plug #say:held.",
				back: []string{ctrlU}},
		}},
		{name: "first", mode: "manual", online: true, unset: []string{"ANTHROPIC_AUTH_TOKEN", "HTTPS_PROXY", "https_proxy"},
			files: map[string]string{".claude.json": "", ".claude/settings.json": ""}, places: []place{
				{name: "first-theme", see: "Syntax theme", want: thread.StateQuestion, back: []string{"\r"}},
				{name: "first-login", see: "Select login method", want: thread.StateUnauthorised, answer: "Claude account", then: "Paste code"},
				{name: "first-code", see: "Paste code", want: thread.StateUnauthorised},
			}},
		{name: "trouble", mode: "manual", places: []place{
			{name: "refused", ask: "fail it #status:403", see: "Once fixed, resend your message", open: true},
			{name: "page", ask: "open it #page", see: "Resend your message to try again", open: true},
			{name: "recovered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
		}},
		{name: "theme", mode: "manual", files: map[string]string{".claude.json": ""}, places: []place{
			{name: "first-theme", see: "Syntax theme", want: thread.StateQuestion, back: []string{"\r"}},
			{name: "first-notes", see: "Security notes", want: thread.StateQuestion, back: []string{"\r"}},
			{name: "first-trust", see: "Yes, I trust", want: thread.StateApproval},
		}},
		{name: "trust", mode: "manual", files: map[string]string{".claude.json": `{"hasCompletedOnboarding":true}`},
			places: []place{
				{name: "trust", see: "Yes, I trust", want: thread.StateApproval},
			}},
		{name: "key", mode: "manual", unset: []string{"ANTHROPIC_AUTH_TOKEN"},
			set: []string{"ANTHROPIC_API_KEY=sk-ant-api03-dummy-dummy-dummy-dummy"}, places: []place{
				{name: "api-key", see: "API key", want: thread.StateApproval},
			}},
		{name: "bypass", mode: "bypassPermissions", files: map[string]string{".claude/settings.json": ""}, places: []place{
			{name: "bypass", see: "I accept", want: thread.StateApproval},
		}},
		{name: "auto", mode: "auto", places: []place{
			{name: "auto-notice", ask: "nobody knows #unchecked #bash:python3 -c 'print(1)' #say:ran", see: "safety check",
				want: thread.StateQuestion},
		}},
		{name: "plan", mode: "plan", places: []place{
			{name: "plan", see: "plan mode", want: thread.StateIdle},
			{name: "plan-exit", ask: "leave it #exit", see: "Claude wants to exit plan mode", want: thread.StateApproval, answer: "No", then: "No plan found"},
			{name: "plan-approval", ask: "plan nothing #plan", see: "Would you like to proceed?", want: thread.StateApproval, answer: esc, then: "below the first. │"},
			{name: "plan-approval", ask: "plan it #plan", see: "Would you like to proceed?", want: thread.StateApproval,
				answer: "Yes, manually approve", then: "answer to: plan it"},
		}},
		{name: "servers", mode: "manual", files: map[string]string{"../shop/.mcp.json": `{"mcpServers":{"notes":{"command":"true"}}}`},
			places: []place{
				{name: "servers", see: "MCP server", want: thread.StateQuestion, answer: "Continue without", then: "shortcuts"},
			}},
	},
	"codex": {
		{name: "started", mode: "on-request/workspace-write", places: []place{
			{name: "idle", see: "shortcuts", want: thread.StateIdle},
			{name: "draft", press: []string{"half a draft"}, see: "half a draft", draft: "half a draft", want: thread.StateIdle,
				back: []string{ctrlC}},
			{name: "draft-lines", press: []string{"half\x1b\ra draft"}, see: "a draft", draft: "half\na draft",
				want: thread.StateIdle, back: []string{ctrlC}},
			{name: "slash", press: []string{"/mo"}, see: "/model", draft: "/mo", back: []string{esc, ctrlC}},
			{name: "at", press: []string{"see @"}, see: "see @", draft: "see @", back: []string{esc, ctrlC}},
			{name: "model", press: []string{"/model", "\r"}, see: "enter", want: thread.StateQuestion, back: []string{esc}},
			{name: "permissions", press: []string{"/permissions", "\r"}, see: "enter", want: thread.StateQuestion,
				back: []string{esc}},
			{name: "new", press: []string{"/new", "\r"}, see: "enter", want: thread.StateQuestion, back: []string{esc}},
			{name: "resume", press: []string{"/resume", "\r"}, see: "esc", want: thread.StateQuestion, back: []string{esc}},
		}},
		{name: "menus", mode: "on-request/workspace-write", places: append([]place{
			{name: "answered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
			{name: "transcript", press: []string{ctrlT}, menu: true},
		}, menus("diff", "approvals", "experimental", "skills", "review", "personality", "theme", "statusline", "title", "apps",
			"hooks", "keymap", "feedback", "agent", "mcp", "memories", "plugins", "debug-config", "collab", "side")...)},
		{name: "talk", mode: "on-request/workspace-write", places: []place{
			{name: "answered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
			{name: "history", press: []string{up}, see: "› tell me", draft: "tell me", want: thread.StateIdle,
				back: []string{ctrlC}},
			{name: "approval", ask: "run it #escalate #bash:touch made.txt #say:ran.", see: "Would you like",
				want: thread.StateApproval, back: []string{"y"}},
			{name: "working", ask: "hold it #hold:plug #say:held.", see: "hold it", want: thread.StateWorking},
		}},
		{name: "trust", mode: "on-request/workspace-write",
			files: map[string]string{".codex/config.toml": codexConfig +
				"[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n"}, places: []place{
				{name: "trust", see: "rust", want: thread.StateApproval},
			}},
		{name: "upsell", mode: "on-request/workspace-write",
			files: map[string]string{".codex/config.toml": codexConfig +
				"[projects.\"DIR\"]\ntrust_level = \"trusted\"\n"}, places: []place{
				{name: "upsell", see: "existing model", want: thread.StateQuestion},
			}},
		{name: "login", mode: "on-request/workspace-write", files: map[string]string{".codex/auth.json": ""}, places: []place{
			{name: "login", see: "Sign in", want: thread.StateUnauthorised, answer: "Sign in another way", then: "API key"},
		}},
	},
	"gemini": {
		{name: "started", mode: "default", places: []place{
			{name: "idle", see: "Type your message", want: thread.StateIdle},
			{name: "draft", press: []string{"half a draft"}, see: "half a draft", draft: "half a draft", want: thread.StateIdle,
				back: []string{ctrlC}},
			{name: "draft-lines", press: []string{"half\x1b\ra draft"}, see: "a draft", draft: "half\na draft",
				want: thread.StateIdle, back: []string{ctrlC}},
			{name: "slash", press: []string{"/mo"}, see: "model", draft: "/mo", back: []string{esc, ctrlC}},
			{name: "model", press: []string{"/model", "\r"}, see: "sc to", want: thread.StateQuestion, back: []string{esc}},
			{name: "theme", press: []string{"/theme", "\r"}, see: "sc to", want: thread.StateQuestion, back: []string{esc}},
			{name: "settings", press: []string{"/settings", "\r"}, see: "sc to", want: thread.StateQuestion,
				back: []string{esc}},
			{name: "resume", press: []string{"/resume", "\r"}, see: "esume", back: []string{esc, "q"}},
		}},
		{name: "menus", mode: "default", places: append([]place{
			{name: "answered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
		}, menus("auth", "resume", "model", "settings", "theme", "editor", "privacy", "agents", "hooks", "extensions", "ide", "permissions", "policies", "skills", "mcp",
			"terminal-setup", "rewind", "stats", "tools", "footer", "help", "about")...)},
		{name: "talk", mode: "default", places: []place{
			{name: "answered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
			{name: "history", press: []string{up}, see: "> tell me", draft: "tell me", want: thread.StateIdle,
				back: []string{ctrlC}},
			{name: "approval", ask: "run it #bash:touch made.txt #say:ran.", see: "Allow once", want: thread.StateApproval,
				back: []string{"1"}},
			{name: "edit", ask: "write it #write:new.txt=x #say:wrote.", see: "Allow once", want: thread.StateApproval,
				back: []string{"1"}},
			{name: "question", ask: "ask me #ask", see: "Blue", want: thread.StateQuestion, back: []string{"\r"}},
			{name: "loop",
				ask: "repeat it #say:" + strings.Repeat("The same sentence comes again and again in this answer. ", 30),
				see: "Disable loop detection", want: thread.StateQuestion, back: []string{esc}},
			{name: "halted", see: "has been halted", want: thread.StateIdle},
			{name: "working", ask: "hold it #hold:plug #say:held.", see: "hold it", want: thread.StateWorking},
		}},
		{name: "trust", mode: "default", unset: []string{"GEMINI_CLI_TRUST_WORKSPACE"}, places: []place{
			{name: "trust", see: "rust folder", want: thread.StateApproval},
		}},
		{name: "login", mode: "default",
			files: map[string]string{
				".gemini/settings.json": `{"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`,
			},
			unset: []string{"GEMINI_API_KEY"}, places: []place{
				{name: "login", see: "uthenticate", want: thread.StateUnauthorised, answer: "Use Gemini API Key", then: "API Key"},
			}},
	},
	"opencode": {
		{name: "started", set: []string{`OPENCODE_PERMISSION={"bash":"ask","edit":"ask"}`}, places: []place{
			{name: "idle", see: "ctrl+p", want: thread.StateIdle},
			{name: "draft", press: []string{"half a draft"}, see: "half a draft", draft: "half a draft", want: thread.StateIdle,
				back: []string{ctrlC}},
			{name: "draft-lines", press: []string{"half\x1b\ra draft"}, see: "a draft", draft: "half\na draft",
				want: thread.StateIdle, back: []string{ctrlC}},
			{name: "slash", press: []string{"/mo"}, see: "model", draft: "/mo", back: []string{ctrlC}},
			{name: "models", press: []string{"/models", "\r"}, see: "Connect provider", want: thread.StateQuestion,
				back: []string{esc}},
			{name: "sessions", press: []string{"/sessions", "\r"}, see: "ession", want: thread.StateQuestion,
				back: []string{esc}},
			{name: "palette", press: []string{ctrlP}, see: "ommand", want: thread.StateQuestion, back: []string{esc}},
			{name: "themes", press: []string{"/themes", "\r"}, see: "heme", want: thread.StateQuestion, back: []string{esc}},
		}},
		{name: "menus", places: append([]place{
			{name: "answered", see: "answer to: tell me", want: thread.StateIdle,
				ask: "tell me #say:answer to: tell me" + strings.Repeat(" a long story that fills every line of the screen", 40)},
			{name: "palette-menu", press: []string{ctrlP}, menu: true},
		}, menus("models", "agents", "sessions", "themes", "mcps", "status", "help", "connect", "timeline", "skills",
			"variants", "stash", "org")...)},
		{name: "talk", set: []string{`OPENCODE_PERMISSION={"bash":"ask","edit":"ask"}`}, places: []place{
			{name: "answered", ask: "tell me", see: "answer to: tell me", want: thread.StateIdle},
			{name: "history", press: []string{up}, see: "tell me", draft: "tell me", want: thread.StateIdle,
				back: []string{ctrlC}},
			{name: "approval", ask: "run it #bash:touch made.txt #say:ran.", see: "Allow once", want: thread.StateApproval,
				back: []string{"\r"}},
			{name: "question", ask: "ask me #ask", see: "Blue", want: thread.StateQuestion, back: []string{"\r"}},
			{name: "working", ask: "hold it #hold:plug #say:held.", see: "hold it", want: thread.StateWorking},
		}},
	},
}
