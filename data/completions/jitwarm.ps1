# Completion of jitwarm for PowerShell:   jitwarm completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName jitwarm -ScriptBlock {
	param($word, $command, $position)
	$words = @($command.CommandElements | Where-Object { $_.Extent.StartOffset -lt $position } | ForEach-Object { "$_" })
	if ($word -eq '') { $words += '""' }
	$program = $words[0]
	$rest = @($words | Select-Object -Skip 1)
	& $program complete '--' @rest | ForEach-Object {
		$text, $about = $_ -split "`t", 2
		if ($text -eq ':files' -or $text -eq ':folders') {
			Get-ChildItem -Path "$word*" -ErrorAction SilentlyContinue |
				Where-Object { $text -eq ':files' -or $_.PSIsContainer } | ForEach-Object {
					[System.Management.Automation.CompletionResult]::new((Resolve-Path -Relative $_.FullName), $_.Name, 'ProviderItem', $_.FullName)
				}
		} else {
			if (-not $about) { $about = $text }
			[System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $about)
		}
	}
}
