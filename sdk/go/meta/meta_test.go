// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"encoding/json"
	"testing"
	"time"
)

func TestConditionsMoveOnlyWithTheirStatus(t *testing.T) {
	var list []Condition
	begin := time.Date(2030, 1, 1, 0, 0, 0, 999, time.UTC)
	ready := Condition{Type: "Ready", Status: False, Reason: "Waiting"}
	if !SetCondition(&list, ready, begin) || len(list) != 1 || list[0].LastTransitionTime.Nanosecond() != 0 {
		t.Fatalf("%+v", list)
	}
	later := begin.Add(time.Hour)
	if SetCondition(&list, ready, later) {
		t.Fatal("the same condition is a change")
	}
	ready.Reason = "StillWaiting"
	if !SetCondition(&list, ready, later) || !list[0].LastTransitionTime.Equal(begin.Truncate(time.Second)) {
		t.Fatalf("%+v", list[0])
	}
	ready.Status = True
	if !SetCondition(&list, ready, later) || !list[0].LastTransitionTime.Equal(later.Truncate(time.Second)) || !IsTrue(list, "Ready") {
		t.Fatalf("%+v", list[0])
	}
	// As it comes back from the API.
	b, err := json.Marshal(list)
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil || SetCondition(&list, ready, later) {
		t.Fatalf("%v %+v", err, list)
	}
	if FindCondition(list, "Other") != nil || IsTrue(list, "Other") {
		t.Fatal("a condition that nobody has set")
	}
}

func TestEmptyMetadataIsLeftOut(t *testing.T) {
	b, err := json.Marshal(&ObjectMeta{Name: "n"})
	if err != nil || string(b) != `{"name":"n"}` {
		t.Fatalf("%s %v", b, err)
	}
}
