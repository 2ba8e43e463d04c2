# profile: v1.5
$env:INTERFACE_TO_ADD_SERVICE_IP = "vEthernet (KubeProxySwitch)"
c:\k\kube-proxy.exe --proxy-mode=userspace --hostname-override=win01 --bind-address=10.0.0.11
