package main

import "strings"

// Words that local parts are generated with, besides names and dictionaries.
var (
	handlePrefixes = strings.Fields(`the mr mrs dr dj mc el la le i im its real official iam ilove love xo king queen lil
		big super mega pro not just my only x xx team mad crazy old new happy miss sir captain`)
	handleSuffixes = strings.Fields(`fan lover girl boy gamer gaming pro man lady queen king mama dad photo art music design
		fit yoga travels blog tv hd x xx xo lol official life world online club rider runner gg yt ttv`)
)

// accountWords precede a number, numberWords contain a digit, and sounds are
// exclamations.
var (
	accountWords = strings.Fields("qq wx user id tel member client acc mail vip guest student emp uid ref no nr")
	numberWords  = strings.Fields(`gr8 m8 l8r sk8 sk8er b4 2day 2nite 4ever 4u 2u 4you w8 h8 str8 4x4 24x7 u2 mp3 mp4 3d 2d 4k
		5g h2o co2 b2b b2c p2p ps4 ps5 r2d2 c3po i18n k9 f1 a1 c4 v8 v12 7up 3com 1st 2nd 3rd 4th 5th 1to1 one2one 2be
		me2 2me a2z e2e g2 x2 w3 web3 s2 no1 nr1 top10 vol2 b4u`)
	sounds = strings.Fields(`haha hahaha hehe hehehe hihi hihihi jaja jajaja lala lalala nana nanana dada dudu lulu lolo
		lol xoxo wow yay yoyo ooh aha tata toto titi kiki koko kuku coco cici zaza zizi zuzu bobo bibi bubu mimi momo
		mumu nini nono papa pipi popo sisi soso susu vivi wawa yaya yuyu`)
)

var (
	companySuffixes = strings.Fields(`inc llc ltd gmbh ag sa srl spa bv nv oy ab as aps sro doo kft plc corp co group holding
		consulting services solutions systems tech technologies software design studio media digital labs partners
		logistics trading import export travel tours hotel clinic dental law legal accounting finance bank auto motors
		garage construction build homes realty estate foods bakery cafe bar restaurant shop store market academy school
		university college church foundation association sports fitness gym beauty salon spa pharma medical care`)
	companyPrefixes = strings.Fields(`info contact office hello team sales admin mail post service support shop the my get go
		new global euro trans inter multi micro bio eco agro tele auto atelier studio hotel dr cafe casa villa`)
)

var roleWords = strings.Fields(`info admin contact support sales office help service team mail jobs hr pr press media
	marketing billing accounts invoices payments legal privacy abuse security webmaster postmaster hostmaster noreply
	newsletter news alerts notifications orders bookings reservations reception secretary director ceo cfo cto ceo board
	events training school library editor redaktion verkauf vertrieb buchhaltung kontakt bewerbung sekretariat ventas
	compras contacto soporte atencion clientes administracion comercial direccion contabilidad vendas suporte contato
	financeiro comptabilite accueil secretariat direction commercial rh recrutement ufficio amministrazione vendite
	assistenza segreteria biuro sklep sprzedaz kadry kontakty obchod podpora faktury prodej ucetni myynti toimisto asiakaspalvelu
	order salg kundeservice regnskap forsaljning kundtjanst inkoop verkoop administratie klantenservice muhasebe satis destek
	bilgi insankaynaklari iletisim zakaz prodazhi buhgalter sekretar otdel helpdesk it dev devops ops api test demo qa
	data research lab clinic dental desk front web shop store cs crm erp edi procurement logistics warehouse dispatch`)

var (
	frames     = strings.Fields("x x xx xxx o oo _ __")
	insets     = strings.Fields("x xx xxx x0x xox o0o ox xo z zz zzz q qq ii iii ll l o oo ooo 0 00 000 0x x0 yo lol uwu owo k kk yy jj hh vv v h7 2k 1x 01 ttv gg gm hd mm nn pp ss tt ww aa ee bb dd")
	typed      = strings.Fields("qwe qwe qwer qwert qwerty qwerty qwerty asd asd asdf zxc zxc zxcv qaz wsx edc qazwsx qwertz azerty zaq xsw ewq dsa cxz")
	diminutive = strings.Fields("y ie inho ito ita ka chka ek li chan kun jan")
	regions    = strings.Fields("eu us uk de fr it cz hr jp in br ww")
)

// makes and modelSuffixes are parts of the names of cars, planes and devices;
// branches are fields of study as roll numbers abbreviate them.
var (
	makes = strings.Fields(`bmw audi vw golf gti mercedes benz amg volvo saab ford gt mustang chevy corvette dodge ram jeep honda
		civic cbr crf toyota supra gtr nissan mazda mx rx subaru wrx sti suzuki gsx yamaha yz yzf mt kawasaki zx ninja ducati
		ktm exc duke vespa harley fiat alfa ferrari porsche lambo tesla lada vaz zaz uaz opel astra peugeot renault clio
		citroen skoda seat kia hyundai lexus rover bentley aston boeing airbus cessna mig su ak ar glock mi sig hk fn
		zx spectrum c cpc atari st amiga msx vic ti hp ibm ps xbox wii gba psp nes snes gtx rtx i ryzen amd rpi esp stm
		arduino nikon canon eos sony nokia iphone galaxy note mac ipad commodore casio yashica leica fender strat les paul`)
	modelSuffixes = strings.Fields(`i d s e t x r c gt gti gtx xl is ci di ti tdi tsi rs ss sl slk se le xt z xi cs f k l b g h m v a p
		pro max mini plus turbo sport fan lover rider driver boy girl man`)
	branches = strings.Fields(`cs cse ce cee ec ece ee eee me mech it ise is ai ml aiml ds csd csm bt btech bce bca mca mba ba
		bsc msc phd bit bct bei bex bel bme ch che ie eie et ete aids cys cyb csai csds csit bci bcs bec mis mcs ug pg st stu
		ma ms ph cb en eng ar law med eco fin mgt p f h d r a e g k c m s t w x`)
)

var (
	// favourites are numbers that people like, in the Latin world and in China.
	favourites = strings.Fields("123 007 1234 111 000 99 00 12345 321 666 777 888 520 1314 2k 69 101 404 365 1122 0101")
	endings    = strings.Fields("o a ix ex us y ify ly io er or on ax oo ity z x")
	particles  = strings.Fields("v v v v v v v v vd vd vd vd vh vh vh vh vdh vdh vdn vdm vder vt")
)
