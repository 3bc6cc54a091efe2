package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"solarmirror/cmd/internal/doctor"
	"solarmirror/cmd/internal/terminal"
)

func newDoctorCommand(a *app) *cobra.Command {
	var asJSON, alert bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, platform, files and mirror; say what is wrong and what mends it",
		Long: `Look at everything a sync needs, check by check, and say of each whether it is in
order, why not, and what to do next. Nothing is changed. What depends on something that is
missing is skipped. With --alert each address under [alerts] gets a test message, and the one to
ping is asked for with /log. The exit code is 0 when no check failed, 1 when one did, and 2 when
the configuration does not load; warnings do not count.`,
		Example: "  solarmirror doctor\n  solarmirror doctor --alert",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := a.doctorOptions()
			o.Alert = alert
			d, err := doctor.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := a.printDiagnosis(d, asJSON); err != nil {
				return err
			}
			return d.Err()
		},
	}
	cmd.Flags().BoolVar(&alert, "alert", false, "send a test message to every address of the alerts")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: verdict, checks (check, verdict, what, remedy)")
	return cmd
}

func (a *app) printDiagnosis(d *doctor.Diagnosis, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(d)
	}
	t := terminal.NewTable("check", "verdict", "what", "remedy")
	for _, f := range d.Checks {
		t.Add(f.Check, f.Verdict, f.What, f.Remedy)
	}
	return t.Write(a.stdout)
}
