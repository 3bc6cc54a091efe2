package pull

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"solarmirror/store/forget"
	"solarmirror/store/publish"
	"solarmirror/store/testsize"
	"solarmirror/sync/platform/platformtest"
)

func (r *rig) forget(taxID string) {
	r.t.Helper()
	if done, err := forget.Person(r.t.Context(), r.mirror, taxID, nil, time.Second); err != nil || len(done) == 0 {
		r.t.Fatalf("forget %s: %v, %v", taxID, done, err)
	}
}

// holding returns the values that stand in the mirror's file or its WAL.
func (r *rig) holding(values []string) []string {
	content := bytes.ToLower(r.bytes())
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !bytes.Contains(content, bytes.ToLower([]byte(v))) })
}

// mustHaveErased compares the number of erased records that verify counts, and wants no difference.
func (r *rig) mustHaveErased(want int64) {
	r.t.Helper()
	erased := int64(0)
	for _, v := range r.verify() {
		erased += int64(v.Erased)
		if len(v.Differences) > 0 || v.Mirror != v.Platform {
			r.t.Errorf("%s: %d in the mirror, %d on the platform, %v", v.Stream, v.Mirror, v.Platform, v.Differences)
		}
	}
	if erased != want {
		r.t.Errorf("verify counts %d erased records, want %d", erased, want)
	}
}

// While the platform does not change them, verify counts the records of erased people as erased, and
// neither a sync nor a repair of other records brings anything of these people into the file.
func TestErasedRecordsStayErased(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Fewer(max(2, *seeds/4))) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			still := newClock("2026-03-10T15:00:00Z") // nothing changes on the platform
			r := newRigFor(t, platformtest.New(platformtest.Options{
				Seed: seed, Requests: testsize.Fewer(60), Equipments: fewItems(), Dialect: platformtest.Dialect{Drift: platformtest.DriftAll}, Token: token, Clock: still.now,
			}))
			r.sync(Options{})
			const people = `SELECT DISTINCT value FROM (SELECT coalesce(nullif(cnpj, ''), cpf) AS value FROM request_companies
				UNION SELECT coalesce(nullif(cnpj, ''), cpf) FROM request_invoices) WHERE length(value) >= 11 ORDER BY value LIMIT 3`
			var personal []string
			for _, row := range r.query(`SELECT DISTINCT value FROM (
				SELECT cpf AS value FROM request_companies UNION SELECT cnpj FROM request_companies UNION SELECT main_contact_email FROM request_companies
				UNION SELECT cpf FROM request_invoices UNION SELECT cnpj FROM request_invoices UNION SELECT email FROM request_invoices
				UNION SELECT company_name FROM request_companies UNION SELECT razao_social FROM request_invoices) WHERE length(value) > 8`) {
				personal = append(personal, row[0].(string))
			}
			personal = r.holding(personal)
			for _, row := range r.query(people) {
				r.forget(row[0].(string))
			}
			kept := r.holding(personal)
			gone := slices.DeleteFunc(personal, func(v string) bool { return slices.Contains(kept, v) })
			marked := r.value("SELECT (SELECT count(*) FROM requests WHERE _erased_at IS NOT NULL) + (SELECT count(*) FROM equipments WHERE _erased_at IS NOT NULL)").(int64)
			if len(gone) == 0 || marked == 0 {
				t.Fatalf("%d values erased, %d records marked", len(gone), marked)
			}
			r.mustHaveErased(marked)
			blanked := r.contents()
			r.exec("UPDATE requests SET final_value = 0.125 WHERE _erased_at IS NULL", // repaired
				"UPDATE requests SET _deleted_at = '2026-03-01 00:00:00.000' WHERE _erased_at IS NOT NULL AND request_key % 2 = 0") // found again
			if total := r.sync(Options{Full: true, Repair: true}).Total(); total.Changed == 0 {
				t.Error("nothing was repaired")
			}
			r.sync(Options{})
			r.sync(Options{Full: true, Repair: true})
			if d := diff(blanked.records, r.contents().records); d != "" {
				t.Errorf("a repair changed (-erased +repaired):\n%s", d)
			}
			if back := r.holding(gone); len(back) > 0 {
				t.Errorf("%q came back", back)
			}
			r.mustHaveErased(marked)
		})
	}
}

// A record that the platform changes after its erasure differs; the next sync loads it, with the
// person's data, and removes its mark. A masked copy has no mark.
func TestErasedRecordChangesOnPlatform(t *testing.T) {
	t.Parallel()
	record := `{"id":"%s","name":"%s","company":{"cpf":"529.982.247-25","mainContact":{"name":"Zulmira","email":"zulmira@example.com"}}}`
	list := &fixedList{records: []string{fmt.Sprintf(record, "a", "Casa"), fmt.Sprintf(record, "b", "Loja"), `{"id":"c","name":"Outra"}`}}
	r := newRigFor(t, list)
	orders, _ := ParseStreams([]string{"orders"})
	verify := func() Verification {
		list, err := r.engine.Verify(t.Context(), orders)
		if err != nil || list[0].Err != nil {
			t.Fatal(err, list)
		}
		return list[0]
	}
	r.sync(Options{Streams: orders})
	r.forget("52998224725")
	if v := verify(); v.Erased != 2 || len(v.Differences) > 0 {
		t.Fatalf("after the erasure: %+v", v)
	}
	r.clock.advance(time.Hour)
	list.records[1] = fmt.Sprintf(record, "b", "Loja nova")
	if v := verify(); v.Erased != 1 || len(v.Differences) != 1 || v.Differences[0].Kind != DiffContent {
		t.Errorf("after a change on the platform: %+v", v)
	}
	masked := filepath.Join(t.TempDir(), "masked.db")
	key, err := publish.EnsurePseudonymKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Copy(t.Context(), r.path, publish.Options{To: masked, Mask: &publish.Masking{Key: key}, KeepVersions: 1}); err != nil {
		t.Fatal(err)
	}
	if n := (&rig{t: t, path: masked}).value("SELECT count(_erased_at) FROM requests"); n != int64(0) {
		t.Errorf("%v marks in a masked copy", n)
	}
	for path, hashes := range map[string]int64{r.path: 1, masked: 0} {
		got := (&rig{t: t, path: path}).query("SELECT type, key, kind, count(held_hash) FROM _findings")
		if d := diff([][]any{{"order", "b", DiffContent, hashes}}, got); d != "" {
			t.Errorf("findings in %s:\n%s", path, d)
		}
	}
	r.sync(Options{Streams: orders})
	got := r.query("SELECT id, name, cpf, main_contact_name, _erased_at IS NOT NULL FROM requests LEFT JOIN request_companies USING (request_key) ORDER BY id")
	want := [][]any{{"a", nil, nil, nil, int64(1)}, {"b", "Loja nova", "529.982.247-25", "Zulmira", int64(0)}, {"c", "Outra", nil, nil, int64(0)}}
	if d := diff(want, got); d != "" {
		t.Errorf("after a sync:\n%s", d)
	}
	if v := verify(); v.Erased != 1 || len(v.Differences) > 0 {
		t.Errorf("after a sync: %+v", v)
	}
}
