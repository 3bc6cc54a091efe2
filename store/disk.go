package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"solarmirror/store/sqlitefile"
)

// CheckRoom returns a [*sqlitefile.NoRoomError] when the disk might not have room for a change that goes through all records. Such a change leaves
// pages half empty and stands in the WAL for a while. A promotion of two fields of every request made a file of 1.3 GB grow by
// 6 %; half of the file is asked for.
func (m *Mirror) CheckRoom() error {
	file, err := os.Stat(m.path)
	if err != nil {
		return fmt.Errorf("look at the size of the mirror: %w", err)
	}
	free, known, err := sqlitefile.FreeBytes(filepath.Dir(m.path))
	if err != nil {
		return fmt.Errorf("look at the free disk of %s: %w", m.path, err)
	}
	if need := file.Size() / 2; known && free < need {
		return &sqlitefile.NoRoomError{Doing: "bringing " + m.path + " up to date may make it grow by", Need: need, Free: free}
	}
	return nil
}

// roomToMigrate checks the disk before a migration that goes through the records. One that only makes tables and columns writes
// next to nothing, whatever the size of the file.
func (m *Mirror) roomToMigrate(ctx context.Context, found *layout) error {
	due, err := m.due(ctx, found)
	if err != nil {
		return err
	}
	if len(due) == 0 && len(m.unseeded(found)) == 0 {
		return nil
	}
	return m.CheckRoom()
}
