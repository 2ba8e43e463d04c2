# Finds out which version it is, and gathers the flags.
$version = $(Invoke-Expression "c:\k\kube-proxy.exe --version")
$arguments = @()
$arguments += "--hostname-override=$(hostname)"
c:\k\kube-proxy.exe --proxy-mode=kernelspace --network-name=cbr0 $arguments
