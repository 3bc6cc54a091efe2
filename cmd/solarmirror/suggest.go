package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"solarmirror/cmd/internal/config"
	"solarmirror/store/dealclass"
)

// meant lists, by the command line that does it, what people type for it, in English and Portuguese.
// Words that may mean several commands are left out: no suggestion is better than a wrong one.
func meant() map[string][]string {
	return map[string][]string{
		"init":           {"setup", "login", "configure", "install", "configurar", "instalar", "config init", "config new", "config create", "config write"},
		"sync":           {"pull", "update", "refresh", "fetch", "mirror", "sincronizar", "sincroniza", "atualizar", "espelhar"},
		"sync --full":    {"resync", "fullsync", "full", "ressincronizar"},
		"run":            {"start", "serve", "server", "worker", "daemon", "schedule", "iniciar", "agendar", "executar", "rodar"},
		"verify":         {"compare", "diff", "verificar", "comparar"},
		"doctor":         {"check", "diagnose", "test", "diagnostico", "testar"},
		"status":         {"state", "info", "freshness", "estado", "situacao"},
		"runs list":      {"history", "log", "logs", "jobs", "historico"},
		"query":          {"sql", "select", "ask", "consulta", "consultar"},
		"export":         {"csv", "parquet", "exportar"},
		"report":         {"relatorio", "relatorios", "html"},
		"rejects list":   {"errors", "rejeitados", "erros"},
		"publish":        {"share", "mask", "publicar", "compartilhar"},
		"backup":         {"snapshot", "copia", "save", "salvar"},
		"restore":        {"recover", "rollback", "restaurar", "recuperar"},
		"push":           {"send", "upload", "enviar", "outbox send", "outbox push"},
		"outbox list":    {"queue", "companies", "fila", "empresas", "outbox status"},
		"outbox cancel":  {"outbox delete", "outbox remove"},
		"forget":         {"erase", "delete", "lgpd", "gdpr", "esquecer", "apagar", "excluir"},
		"schema tables":  {"tables", "tabelas"},
		"schema columns": {"columns", "dictionary", "colunas", "dicionario"},
		"simulate":       {"simulator", "fake", "simular"},
		"demo":           {"try", "tutorial", "demonstracao"},
		"config show":    {"settings", "configuracao", "config print", "config list", "config get", "config dump"},
		"config check":   {"validate", "lint", "validar", "config validate", "config verify", "config test", "config lint"},
		"config example": {"config default", "config defaults", "config template", "config sample"},
		"version":        {"versao"},
		"outbox add":     {"outbox new", "outbox create"},
		"healthcheck":    {"alive", "ping"},
		"rejects replay": {"rejects retry", "rejects load"},
		"runs show":      {"runs last"},
	}
}

// refuseUnknownCommand is the Args of a command that only holds others.
func refuseUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, group, _ := strings.Cut(cmd.CommandPath()+" ", " ") // without the program's name
	typed := dealclass.Fold(group + args[0])               // without case and accents
	for line, words := range meant() {
		if slices.Contains(words, typed) {
			return fmt.Errorf("unknown command %q; did you mean %q?", args[0], cmd.Root().Name()+" "+line)
		}
	}
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s", args[0], didYouMean("%q", config.Near(args[0], names)))
}

// suggestFlag names the nearest flag of cmd where an unknown one was given.
func suggestFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	return fmt.Errorf("unknown flag --%s%s", name, didYouMean("--%s", config.Near(name, names)))
}

// didYouMean ends an error with the name in the form; with nothing where no name is near.
func didYouMean(form, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean "+form+"?", name)
}
