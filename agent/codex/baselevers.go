package codex

import "orchestrator/thread"

// lever is something that Codex leaves out by its own settings.
type lever struct {
	thread.Lever
	keys []key
}

// key is a setting that a lever makes.
type key struct {
	name  string // with dots, as for -c
	value any    // a string or a bool
	// measured is set if the key is only passed to versions that it was measured with: others may refuse to start with it.
	measured bool
}

// measured are the versions with which the table was measured: what each lever saves, and that no text names a tool that
// has gone. Newest last.
func measured() []string { return []string{"0.169.0"} }

// task are the profiles that leave out what a task rarely needs.
func task() []string { return []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal} }

// levers are what can be left out, in the order in which people are told of them. What the model must know of permissions
// always stays. There is none for the shell and for editing: Codex reads files with its shell, and its sandbox says what
// that may change. What each saves was measured with gpt-5.5; agents save
// 1,760 with gpt-6-sol, web 2,860, threads 1,530 with gpt-4.1.
func levers() []lever {
	return []lever{
		{Lever: thread.Lever{
			Name: "bundled-skills", Profiles: task(), Parts: []string{"skills"}, Saves: 1032,
			Lost: "instructions that come with Codex for special tasks: making images, writing skills and plugins, questions about " +
				"OpenAI's products. Your own skills and the repository's stay",
			Words: []string{"$imagegen", "$skill-creator", "$skill-installer", "$plugin-creator", "$openai-docs", "generate an image",
				"create a skill", "install a skill", "create a plugin"},
		}, keys: []key{{name: "skills.bundled.enabled", value: false}}},
		{Lever: thread.Lever{
			Name: "goals", Profiles: task(), Tools: []string{"create_goal", "get_goal", "update_goal"}, Saves: 647,
			Lost:  "a goal that it keeps working towards by itself, turn after turn, with a limit on what that costs (/goal)",
			Words: []string{"/goal", "set a goal", "create a goal", "until the goal"},
		}, keys: []key{{name: "features.goals", value: false}}},
		{Lever: thread.Lever{
			Name: "agents", Profiles: task(), Parts: []string{"agents"}, Saves: 15,
			Tools: []string{"multi_agent_v1", "spawn_agent", "send_input", "resume_agent", "wait_agent", "close_agent", "followup_task",
				"interrupt_agent", "list_agents", "send_message"},
			Lost: "subagents, to which it hands a part of the work. It does it all itself, one after the other; threads and " +
				"forks of this program work side by side",
			Words: []string{"subagent", "sub-agent", "sub agent", "spawn an agent", "spawn agents", "with agents", "use agents", "in parallel",
				"delegate"},
		}, keys: []key{{name: "features.multi_agent", value: false}, {name: "agents.enabled", value: false, measured: true}}},
		{Lever: thread.Lever{
			Name: "threads", Profiles: task(), Saves: 361,
			Tools: []string{"mcp__codex_tui", "create_thread", "create_worktree", "fork_thread", "get_worktree_creation_status",
				"list_archived_threads", "list_threads", "list_worktrees", "read_thread", "send_message_to_thread", "set_thread_archived",
				"set_thread_title", "wait_threads"},
			Lost:  "threads and worktrees of Codex's own, which it makes itself. A fork of the thread has a worktree of its own",
			Words: []string{"create a thread", "another thread", "create a worktree", "fork this thread", "archived threads"},
		}, keys: []key{ // a server within Codex; one that is off must have a command nevertheless
			{name: "mcp_servers.codex_tui.enabled", value: false, measured: true},
			{name: "mcp_servers.codex_tui.command", value: "true", measured: true},
		}},
		{Lever: thread.Lever{
			Name: "web", Profiles: task(), Tools: []string{"web_search"}, Saves: 21,
			Lost:  "searching the web. With some models, also weather, prices and sports results",
			Words: []string{"search the web", "web search", "look up", "google", "on the internet", "online", "http://", "https://"},
		}, keys: []key{{name: "web_search", value: "disabled"}}},
		{Lever: thread.Lever{
			Name: "images", Profiles: task(), Tools: []string{"view_image"}, Saves: 75,
			Lost:  "looking at images in files by itself. It still sees those that you paste",
			Words: []string{"screenshot", "look at the image", "view the image", ".png", ".jpg", ".jpeg", ".webp"},
		}, keys: []key{{name: "features.view_image", value: false}}},
		{Lever: thread.Lever{
			Name: "personality", Profiles: task(), Saves: 342,
			Lost:  "its manner of speaking: it answers in a plainer tone",
			Words: []string{"/personality"},
		}, keys: []key{{name: "personality", value: "none", measured: true}}},
		{Lever: thread.Lever{
			Name: "questions", Profiles: []string{thread.BaseMinimal}, Parts: []string{"environment: mode"}, Saves: 539,
			Tools: []string{"request_user_input", "request_user_input_async"}, Named: []string{"request_user_input_async"},
			Lost:  "questions with answers to choose from, and what it is told of its plan mode. It asks in its text instead",
			Words: []string{"ask me", "interview me", "/plan", "plan mode"},
		}, keys: []key{
			{name: "tools.experimental_request_user_input.enabled", value: false, measured: true},
			{name: "include_collaboration_mode_instructions", value: false},
		}},
	}
}
