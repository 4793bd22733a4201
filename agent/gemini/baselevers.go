package gemini

import "orchestrator/thread"

// lever is something that Gemini CLI leaves out: tools by rules of our policy, which take them out of the request, and the
// rest by settings. A prompt that orders what is gone is changed by a setting with it.
type lever struct {
	thread.Lever
	settings []setting
}

// setting is a setting that a start makes: a value, or names that are added to a list.
type setting struct {
	group, key string
	value      any
}

// measured are the versions with which the table was measured: what each lever saves, and that no text names a tool that
// has gone. Newest last.
func measured() []string { return []string{"0.61.0"} }

// task are the profiles that leave out what a task rarely needs.
func task() []string { return []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal} }

// levers are what can be left out, in the order in which people are told of them. What each saves was measured with
// gemini-2.5-pro.
func levers() []lever {
	readOnly := []string{thread.BaseReadOnly}
	return []lever{
		{Lever: thread.Lever{
			Name: "todo-list", Profiles: task(), Tools: []string{"write_todos"}, Saves: 1278,
			Lost:  "its list of what is still to be done, shown while it works",
			Words: []string{"todo list", "to-do list", "list of todos", "write_todos"},
		}},
		{Lever: thread.Lever{
			Name: "topics", Profiles: task(), Tools: []string{"update_topic"}, Saves: 595,
			Lost: "headings above its work that say what it does next. What you change in its /settings is forgotten at the next start " +
				"of the thread",
			Words: []string{"update_topic"},
		}, settings: []setting{{"general", "topicUpdateNarration", false}}},
		{Lever: thread.Lever{
			Name: "agents", Profiles: task(), Parts: []string{"agents"}, Tools: []string{"invoke_agent"}, Saves: 503,
			Lost: "subagents, to which it hands a search or a part of the work. It does it all itself, one after the other; " +
				"threads and forks of this program work side by side",
			Words: []string{"subagent", "sub-agent", "sub agent", "with agents", "use agents", "in parallel", "@codebase_investigator",
				"@generalist", "@cli_help", "codebase investigator"},
		}},
		{Lever: thread.Lever{
			Name: "bundled-skills", Profiles: task(), Parts: []string{"skills"}, Saves: 357,
			Lost: "instructions that come with Gemini CLI: for writing skills, and for moving to Antigravity, another program of its maker. Your own " +
				"skills and the repository's stay. What you change in its /settings is forgotten at the next start of the thread",
			Words: []string{"skill-creator", "create a skill", "antigravity"},
		}, settings: []setting{{"skills", "disabled", []string{"antigravity-support", "skill-creator"}}}},
		{Lever: thread.Lever{
			Name: "skills", Profiles: task(), Parts: []string{"skills"}, Tools: []string{"activate_skill"}, Saves: 477,
			Lost: "skills: instructions for special tasks that it loads when they are needed. What you change in its /settings is " +
				"forgotten at the next start of the thread",
			Words: []string{"skill"},
		}, settings: []setting{{"skills", "enabled", false}}},
		{Lever: thread.Lever{
			Name: "web", Profiles: task(), Tools: []string{"google_web_search", "web_fetch"}, Saves: 278,
			Lost:  "searching the web and reading pages",
			Words: []string{"search the web", "web search", "google for", "look up", "on the internet", "fetch the page", "fetch the url"},
		}},
		{Lever: thread.Lever{
			Name: "background", Profiles: task(), Tools: []string{"list_background_processes", "read_background_output"}, Saves: 272,
			Lost:  "looking at what commands write that it started in the background. It still starts them",
			Words: []string{"in the background", "background process", "dev server", "watch the log"},
		}},
		{Lever: thread.Lever{
			Name: "folder-lists", Profiles: task(), Tools: []string{"list_directory"}, Saves: 185,
			Lost:  "its tool for what a folder holds. It finds files by patterns, or with the shell",
			Words: []string{"list_directory"},
		}},
		{Lever: thread.Lever{
			Name: "plan-mode", Profiles: task(), Tools: []string{"enter_plan_mode", "exit_plan_mode"}, Saves: 81,
			Lost:  "going into its plan mode by itself. You can still ask for a plan",
			Words: []string{"plan mode", "/plan"},
		}},
		{Lever: thread.Lever{
			Name: "questions", Profiles: []string{thread.BaseMinimal}, Tools: []string{"ask_user"},
			Named: []string{"ask_user"}, Saves: 425, // where it is said what not to ask
			Lost:  "questions with answers to choose from. It asks in its text instead",
			Words: []string{"ask me", "interview me", "ask_user"},
		}},
		{Lever: thread.Lever{
			Name: "editing", Profiles: readOnly, Tools: []string{"replace", "write_file"},
			Named: []string{"replace", "write_file"}, Saves: 1064,
			Lost:  "changing files. It says what it would change",
			Words: []string{"fix", "implement", "refactor", "rewrite", "rename", "edit the", "write the"},
		}},
		{Lever: thread.Lever{
			Name: "shell", Profiles: readOnly, Saves: 791,
			Tools: []string{"run_shell_command", "list_background_processes", "read_background_output"}, Named: []string{"run_shell_command"},
			Lost:  "commands: tests, builds, git. It searches and reads files with tools for that",
			Words: []string{"run the", "run tests", "go test", "npm ", "pytest", "cargo ", "build it", "commit"},
		}},
	}
}
