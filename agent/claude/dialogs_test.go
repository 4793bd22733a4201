package claude

import "testing"

// TestAbout: what a command or a file is about is shown whole, whatever stands in it.
func TestAbout(t *testing.T) {
	const dots = "╌╌╌╌"
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a command", []string{"Bash command", "run it", dots, "touch x", dots, "Do you want to proceed?"}, "touch x"},
		{"several lines", []string{"Bash command", "run it", dots, "cd /", "rm -rf x", dots, "ask"}, `cd / \n rm -rf x`},
		{"dots in the command", []string{"Bash command", "run it", dots, "ls", dots, "rm -rf ~", dots, "ask"}, `ls \n ╌╌╌╌ \n rm -rf ~`},
		{"dots in its description", []string{"Bash command", dots, "ls", dots, dots, "rm -rf ~", dots, "ask"}, `ls \n ╌╌╌╌ \n ╌╌╌╌ \n rm -rf ~`},
		{"a file", []string{"Create file", "new.txt", dots, "1 x", dots, "ask"}, "Create file new.txt"},
		{"a tool and what it is called with", []string{"Tool use", "notes - add(text:", "buy milk)", "ask"}, "Tool use notes - add(text: buy milk)"},
		{"a title alone", []string{"Create file", dots, "1 x", dots, "ask"}, "Create file"},
		{"nothing", []string{"ask"}, ""},
	} {
		if got := about(c.lines, len(c.lines)-1); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
