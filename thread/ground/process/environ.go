package process

// Marked reports whether a process has an environment entry like that.
func Marked(pid int, is func(entry string) bool) bool {
	found := false
	Environ(pid, func(entry string) bool { found = is(entry); return !found })
	return found
}
