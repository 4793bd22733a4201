// Package world is how agents read the world around them: the variables, files and folders that say where their model
// lives and how it is reached. What is the same for all is here; each agent's own files and their order are in its
// package.
package world
