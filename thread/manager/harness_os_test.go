package manager_test

import "os"

func mkdir(path string) error { return os.MkdirAll(path, 0o700) }
func rmdir(path string) error { return os.RemoveAll(path) }
