package summary

// Check returns the files and identifiers that a summary names and that are not in what it replaces, once each.
func Check(text, replaced string) []string {
	unknown, _ := check(text, replaced)
	return unknown
}
