// Package demo is the adapter for the demo agent, which is built into this program and needs no installation, key or
// network: package program is the agent, package model its model.
//
// Its sessions are files, so that they can be read, verified, rebuilt and forked like those of any other agent.
package demo
