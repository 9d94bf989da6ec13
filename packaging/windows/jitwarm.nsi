; The installer (scripts/package-windows.sh --installers): makensis -DOUT=FILE -DFILES=FOLDER [-DSIGN=COMMAND] jitwarm.nsi
; FOLDER holds what is installed, jitwarm.ico and release.nsh, which names VERSION, PUBLISHER, HOMEPAGE and SIZE_KB.
;
;   setup.exe /S                  for this account, without a window: %LOCALAPPDATA%\Programs\jitwarm
;   setup.exe /S /AllUsers        for all accounts, from an elevated process: %ProgramFiles%\jitwarm
;   … /NoPath                     leaves Path alone
;   … /D=C:\folder                elsewhere; the last switch, without quotes
;   uninstall.exe /S [/KeepState] reverts what jitwarm has set up (jitwarm uninstall), or only its tasks; removes the files
;
; Exit status: 0; 2 something could not be written, and what was there is as it was; 740 /AllUsers without administrator's rights.
Target amd64-unicode ; jitwarm.exe is of 64 bits, too
!include "${FILES}/release.nsh"
!include LogicLib.nsh
!include FileFunc.nsh
!include WinVer.nsh
!include x64.nsh
!include WinMessages.nsh

Name "jitwarm"
OutFile "${OUT}"
!ifdef FAST
SetCompressor zlib
!else
SetCompressor /SOLID lzma
!endif
SetDateSave off ; the same files give the same bytes
SetOverwrite try
RequestExecutionLevel user
ManifestSupportedOS Win10
ManifestDPIAware true
Icon "${FILES}/jitwarm.ico"
UninstallIcon "${FILES}/jitwarm.ico"
BrandingText "jitwarm ${VERSION}"
VIProductVersion "${VERSION}.0"
VIAddVersionKey ProductName "jitwarm"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey FileDescription "Installer of jitwarm"
VIAddVersionKey CompanyName "${PUBLISHER}"
VIAddVersionKey LegalCopyright "Apache-2.0"
Page directory
Page instfiles
UninstPage uninstConfirm
UninstPage instfiles
!ifdef SIGN
!uninstfinalize '${SIGN} "%1"' = 0
!endif

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\jitwarm"
Var all ; 1: for all accounts

; Ends with 740 where all accounts are meant and this process is not elevated; with a window, Windows asks for the right
!macro elevated program parameters
	${If} $all = 1
		UserInfo::GetAccountType
		Pop $0
		${If} $0 != "Admin"
			SetErrorLevel 740
			${IfNot} ${Silent}
				ExecShell "runas" "${program}" "${parameters}"
			${EndIf}
			Quit
		${EndIf}
		SetShellVarContext all
	${EndIf}
!macroend

; Path of the account or machine, with $INSTDIR (1 on the stack) or without. A string of NSIS ends after 1024 characters, and
; what it had cut off would be lost: the value stays in memory of the System plugin's.
!macro path_function un
Function ${un}path
	Pop $0
	${If} $all = 1
		StrCpy $1 -2147483646 ; HKEY_LOCAL_MACHINE
		StrCpy $2 "SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
	${Else}
		StrCpy $1 -2147483647 ; HKEY_CURRENT_USER
		StrCpy $2 "Environment"
	${EndIf}
	StrCpy $R9 0 ; whether it was written
	System::Call 'advapi32::RegOpenKeyExW(p r1, w r2, i 0, i 0x103, *p .r3) i .r4'
	${If} $4 <> 0
		DetailPrint "Path cannot be changed ($4)"
		Return
	${EndIf}
	System::Call 'advapi32::RegQueryValueExW(p r3, w "Path", p 0, *i .r5, p 0, *i .r6) i .r4'
	${If} $4 = 2 ; there is none
		StrCpy $5 2 ; REG_EXPAND_SZ
		StrCpy $6 0
		StrCpy $4 0
	${EndIf}
	${If} $4 = 0
	${AndIf} $5 >= 1
	${AndIf} $5 <= 2
		StrLen $7 $INSTDIR
		IntOp $8 $7 * 2
		IntOp $8 $8 + $6
		IntOp $8 $8 + 16
		System::Alloc $8 ; zeros
		Pop $9
		IntPtrOp $R0 $9 + 2
		System::Call 'kernel32::lstrcpyW(p r9, w ";")'
		${If} $6 > 0
			System::Call 'advapi32::RegQueryValueExW(p r3, w "Path", p 0, *i .r5, p R0, *i r6 r6) i .r4'
		${EndIf}
		${If} $4 = 0 ; else it has grown meanwhile
			System::Call 'kernel32::lstrcatW(p r9, w ";")'
			StrCpy $R2 ";$INSTDIR;"
			System::Call 'shlwapi::StrStrIW(p r9, w R2) p .R1'
			${If} $0 = 1
			${AndIf} $R1 P= 0
				Call ${un}path_add
			${ElseIf} $0 = 0
			${AndIf} $R1 P<> 0
				Call ${un}path_remove
			${EndIf}
		${EndIf}
		System::Free $9
	${Else}
		DetailPrint "Path cannot be changed ($4, $5)"
	${EndIf}
	System::Call 'advapi32::RegCloseKey(p r3)'
	${If} $R9 = 1
		SendMessage ${HWND_BROADCAST} ${WM_SETTINGCHANGE} 0 "STR:Environment" /TIMEOUT=2000
	${EndIf}
FunctionEnd
; $9 is “;Path;”, $R0 lies behind its first semicolon
Function ${un}path_add
	System::Call 'kernel32::lstrlenW(p r9) i .R3'
	${If} $R3 = 2 ; empty
		System::Call 'kernel32::lstrcpyW(p R0, w "$INSTDIR")'
	${Else}
		IntOp $R4 $R3 * 2
		IntOp $R4 $R4 - 4
		IntPtrOp $R4 $9 + $R4
		System::Call '*$R4(&w2 .R5)' ; the last character of Path, and the semicolon behind it
		${If} $R5 == ";;"
			IntPtrOp $R4 $R4 + 2
			System::Call '*$R4(&i2 0)'
		${EndIf}
		System::Call 'kernel32::lstrcatW(p r9, w "$INSTDIR")'
		${If} $R5 == ";;" ; so that the removal restores it to the byte
			System::Call 'kernel32::lstrcatW(p r9, w ";")'
		${EndIf}
	${EndIf}
	Call ${un}path_write
FunctionEnd
; $R1 is the place of “;$INSTDIR;” in it, $7 the length of $INSTDIR
Function ${un}path_remove
	IntOp $R4 $7 + 1
	IntOp $R4 $R4 * 2
	IntPtrOp $R4 $R1 + $R4
	System::Call 'kernel32::lstrlenW(p R4) i .R5'
	IntOp $R5 $R5 + 1
	IntOp $R5 $R5 * 2
	System::Call 'kernel32::RtlMoveMemory(p R1, p R4, p R5)'
	System::Call 'kernel32::lstrlenW(p r9) i .R3'
	IntOp $R4 $R3 - 1
	IntOp $R4 $R4 * 2
	IntPtrOp $R4 $9 + $R4
	System::Call '*$R4(&i2 0)'
	Call ${un}path_write
FunctionEnd
Function ${un}path_write
	StrCpy $R9 1
	System::Call 'kernel32::lstrlenW(p R0) i .R3'
	${If} $R3 = 0
		System::Call 'advapi32::RegDeleteValueW(p r3, w "Path") i .r4'
		Return
	${EndIf}
	IntOp $R3 $R3 + 1
	IntOp $R3 $R3 * 2
	System::Call 'advapi32::RegSetValueExW(p r3, w "Path", i 0, i r5, p R0, i R3) i .r4'
	${If} $4 <> 0
		DetailPrint "Path cannot be changed ($4)"
	${EndIf}
FunctionEnd
!macroend
!insertmacro path_function ""
!insertmacro path_function "un."

Function .onInit
	${IfNot} ${RunningX64}
	${OrIfNot} ${AtLeastWin10}
		MessageBox MB_OK|MB_ICONSTOP "jitwarm needs 64-bit Windows 10 or newer." /SD IDOK
		SetErrorLevel 2
		Quit
	${EndIf}
	SetRegView 64
	StrCpy $all 0
	${GetParameters} $1
	ClearErrors
	${GetOptions} $1 "/AllUsers" $2
	${IfNot} ${Errors}
		StrCpy $all 1
	${EndIf}
	${If} $INSTDIR != ""
		StrCpy $1 "$1 /D=$INSTDIR"
	${EndIf}
	!insertmacro elevated $EXEPATH $1
	; An upgrade goes where the former version is
	${If} $INSTDIR == ""
		ReadRegStr $INSTDIR SHCTX "${KEY}" "InstallLocation"
	${EndIf}
	${If} $INSTDIR == ""
		${If} $all = 1
			StrCpy $INSTDIR "$PROGRAMFILES64\jitwarm"
		${Else}
			StrCpy $INSTDIR "$LOCALAPPDATA\Programs\jitwarm"
		${EndIf}
	${EndIf}
FunctionEnd

; A program that runs may be renamed, not overwritten
!macro aside name
	Delete "$INSTDIR\${name}.old"
	Rename "$INSTDIR\${name}" "$INSTDIR\${name}.old"
!macroend
!macro back name
	${If} ${FileExists} "$INSTDIR\${name}.old"
		Delete "$INSTDIR\${name}"
		Rename "$INSTDIR\${name}.old" "$INSTDIR\${name}"
	${EndIf}
!macroend

Section
	SetOutPath $INSTDIR
	!insertmacro aside jitwarm.exe
	!insertmacro aside jitwarmw.exe
	ClearErrors
	File "${FILES}/jitwarm.exe"
	File "${FILES}/jitwarmw.exe"
	File "${FILES}/LICENSE.txt"
	File "${FILES}/README.md"
	WriteUninstaller "$INSTDIR\uninstall.exe"
	${If} ${Errors}
		!insertmacro back jitwarm.exe
		!insertmacro back jitwarmw.exe
		MessageBox MB_OK|MB_ICONSTOP "$INSTDIR cannot be written." /SD IDOK
		SetErrorLevel 2
		Quit
	${EndIf}
	Delete /REBOOTOK "$INSTDIR\jitwarm.exe.old"
	Delete /REBOOTOK "$INSTDIR\jitwarmw.exe.old"
	WriteRegStr SHCTX "${KEY}" "DisplayName" "jitwarm"
	WriteRegStr SHCTX "${KEY}" "DisplayVersion" "${VERSION}"
	WriteRegStr SHCTX "${KEY}" "DisplayIcon" "$INSTDIR\jitwarm.exe"
	WriteRegStr SHCTX "${KEY}" "Publisher" "${PUBLISHER}"
	WriteRegStr SHCTX "${KEY}" "URLInfoAbout" "${HOMEPAGE}"
	WriteRegStr SHCTX "${KEY}" "InstallLocation" "$INSTDIR"
	WriteRegStr SHCTX "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
	WriteRegStr SHCTX "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
	WriteRegDWORD SHCTX "${KEY}" "EstimatedSize" ${SIZE_KB}
	WriteRegDWORD SHCTX "${KEY}" "NoModify" 1
	WriteRegDWORD SHCTX "${KEY}" "NoRepair" 1
	${GetParameters} $1
	ClearErrors
	${GetOptions} $1 "/NoPath" $2
	${If} ${Errors}
		Push 1
		Call path
	${EndIf}
	SetErrorLevel 0
SectionEnd

Function un.onInit
	SetRegView 64
	StrCpy $all 0
	; For whom it is, the place says
	ReadRegStr $1 HKLM "${KEY}" "InstallLocation"
	${If} $1 == $INSTDIR
		StrCpy $all 1
	${EndIf}
	${un.GetParameters} $1
	!insertmacro elevated "$INSTDIR\uninstall.exe" $1
FunctionEnd

; What runs goes when Windows starts the next time (the folder, too, if it is empty then), under a name that an installation until then does not have
!macro removed name
	Delete "$INSTDIR\${name}.old"
	ClearErrors
	Delete "$INSTDIR\${name}"
	${If} ${Errors}
		Rename "$INSTDIR\${name}" "$INSTDIR\${name}.old"
		Delete /REBOOTOK "$INSTDIR\${name}.old"
		Delete /REBOOTOK "$INSTDIR\${name}" ; still there where a former version runs, too
	${EndIf}
!macroend

Section Uninstall
	${un.GetParameters} $1
	ClearErrors
	${un.GetOptions} $1 "/KeepState" $2
	${If} ${Errors}
		ExecWait '"$INSTDIR\jitwarmw.exe" uninstall --quiet' $0
	${Else}
		ExecWait '"$INSTDIR\jitwarmw.exe" startup disable --quiet' $0
		${If} $all = 1
			ExecWait '"$INSTDIR\jitwarmw.exe" startup disable --all-users --quiet' $0
		${EndIf}
	${EndIf}
	Push 0
	Call un.path
	!insertmacro removed jitwarm.exe
	!insertmacro removed jitwarmw.exe
	Delete "$INSTDIR\LICENSE.txt"
	Delete "$INSTDIR\README.md"
	Delete "$INSTDIR\uninstall.exe" ; but for the one that runs (_?=)
	SetOutPath $TEMP
	RMDir /REBOOTOK "$INSTDIR"
	DeleteRegKey SHCTX "${KEY}"
	SetErrorLevel 0
SectionEnd
